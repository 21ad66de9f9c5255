"""A worker in Python, with nothing but its standard library: WORKER_KEY=… python3 worker.py http://127.0.0.1:8080 words"""
import json, os, signal, sys, threading, time, urllib.error, urllib.request, uuid

BASE, TYPE, KEY = sys.argv[1], sys.argv[2], os.environ["WORKER_KEY"]
leaving = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: leaving.set())

def ask(verb, body):
    """Sends until there is an answer: everything may be sent again."""
    request = urllib.request.Request(f"{BASE}/v1/workers/{verb}", json.dumps(body).encode(), {
        "authorization": f"Bearer {KEY}", "content-type": "application/json"})
    while True:
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                return json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            if error.code == 409: return None  # The run is somebody else's by now.
            if error.code not in (429, 503): raise
            time.sleep(float(error.headers.get("retry-after", 1)))
        except OSError: time.sleep(1)

def work(data, emit):
    """The work itself; what it raises fails the run."""
    emit([f"{len(word)} " for word in data["text"].split()])
    return {"words": len(data["text"].split())}

def keep(run, job, done):
    while not done.wait(job["lockMs"] / 3000): ask("heartbeat", {"runs": [run]})

while not leaving.is_set():
    job = ask("claim", {"type": TYPE, "claim": str(uuid.uuid4()), "waitMs": 5000})
    if job is None: continue
    run, done = {name: job[name] for name in ("id", "tenant", "claim")}, threading.Event()
    threading.Thread(target=keep, args=(run, job, done), daemon=True).start()
    try:
        result = work(job["data"], lambda chunks: ask("emit", {**run, "first": 1, "chunks": chunks}))
        ask("complete", {**run, "result": result})
    except Exception as error:
        ask("fail", {**run, "error": repr(error)})
    done.set()
