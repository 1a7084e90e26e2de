"""Sentences that people read, from a tree: help texts, error messages, docs."""
import ast,re,sys,random,glob,os
root=sys.argv[1]
def sents(t):
    t=re.sub(r'\s+',' ',t)
    return [s.strip() for s in re.split(r'(?<=[.!?])\s+(?=[A-Z`])',t) if 25<len(s.strip())<400]
docs=[];helps=[];errs=[]
for p in glob.glob(root+'/docs/**/*.md',recursive=True)+[root+'/README.md']:
    if '/design/' in p or p.endswith('reference/cli.md'): continue
    s=open(p).read(); s=re.sub(r'```.*?```','',s,flags=re.S); s=re.sub(r'^\s*[|#!].*$','\n',s,flags=re.M)
    for para in re.split(r'\n\s*\n|\n- |\n\d+\. ',s): docs+=sents(para)
for p in glob.glob(root+'/src/recrawl/**/*.py',recursive=True):
    try: tree=ast.parse(open(p).read())
    except Exception: continue
    for n in ast.walk(tree):
        if isinstance(n,(ast.FunctionDef,)) and '/cli/' in p and not n.name.startswith('_'):
            d=ast.get_docstring(n)
            if d and 'Examples:' in d: helps+=sents(d.split('Examples:')[0].replace('\b',''))
        if isinstance(n,ast.keyword) and n.arg=='help':
            try:
                v=ast.literal_eval(n.value); helps+= [v] if isinstance(v,str) and len(v)>20 else []
            except Exception: pass
        if isinstance(n,(ast.Raise,)) or (isinstance(n,ast.Call) and getattr(n.func,'attr','')=='remark'):
            for j in ast.walk(n):
                if isinstance(j,ast.JoinedStr):
                    t=''.join(x.value if isinstance(x,ast.Constant) else 'X' for x in j.values)
                    if len(t)>20: errs.append(t)
                elif isinstance(j,ast.Constant) and isinstance(j.value,str) and len(j.value)>25: errs.append(j.value)
random.seed(int(sys.argv[2]))
for name,l,k in(('docs',docs,24),('help',helps,13),('errors',errs,13)):
    l=sorted(set(l)); print(f'# {name} of {len(l)}',file=sys.stderr)
    for s in random.sample(l,k): print(f'{name}\t{s}')
