-- Every worker finds the price of a visit from the curves of all slots; nobody reads a stored one.
DROP TABLE prices;
