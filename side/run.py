import sys
from pathlib import Path
import uvicorn
from recrawl.serve.app import create_app
from recrawl.serve.safety import Access
from recrawl.serve.source import Source
uvicorn.run(create_app(Source(Path(sys.argv[1])), Access.at("127.0.0.1","t0ken")), host="127.0.0.1", port=int(sys.argv[2]), log_level="warning")
