import sys, os
from playwright.sync_api import sync_playwright
urls=sys.argv[2:]; port=sys.argv[1]
with sync_playwright() as p:
    b=p.chromium.launch(executable_path="/usr/bin/chromium",args=["--no-sandbox"])
    for spec in urls:
        path,name,*opt=spec.split("|")
        c=b.new_context(viewport={"width":390 if "narrow" in opt else 1280,"height":850},color_scheme="dark" if "dark" in opt else "light")
        pg=c.new_page()
        pg.on("console",lambda m: print("console",m.type,m.text[:300]))
        pg.on("pageerror",lambda e: print("error",str(e)[:300]))
        pg.on("request",lambda r: print("OUTSIDE",r.url) if "127.0.0.1" not in r.url and not r.url.startswith("data:") else None)
        pg.goto(f"http://127.0.0.1:{port}{path}"); pg.wait_for_timeout(2500)
        pg.screenshot(path=name+".png",full_page=True); c.close()
    b.close()
