-- Why the last attempt to tell a destination failed, for those who look.

ALTER TABLE destinations ADD COLUMN problem TEXT NOT NULL DEFAULT ''; -- empty where it did not
