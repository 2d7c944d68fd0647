"""Runs a program on a pseudo-terminal and prints what it wrote as JSON lines.

Arguments: columns, rows, steps as JSON, then the command. A step is one of
{"wait": text} until the output since the last step holds it, {"send": text},
{"resize": [columns, rows]}, {"pause": seconds}, {"touch": path of a file to make}.
Output lines: {"out": base64}, {"resize": [columns, rows]}, {"exit": code}.
"""
import base64, fcntl, json, os, pty, select, signal, struct, sys, termios, time

columns, rows, steps, command = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4:]
LIMIT = time.monotonic() + 15


def resize(descriptor, width, height):
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))


pid, master = pty.fork()
if pid == 0:
    resize(0, columns, rows)
    os.execv(command[0], command)
resize(master, columns, rows)
recent = b""
closed = False


def emit(value):
    print(json.dumps(value), flush=True)


def pump(seconds):
    """Reads for at most this long; true when something came."""
    global recent, closed
    ready, _, _ = select.select([master], [], [], seconds)
    if not ready:
        return False
    try:
        data = os.read(master, 65536)
    except OSError:
        data = b""
    if not data:
        closed = True
        return False
    recent += data
    emit({"out": base64.b64encode(data).decode()})
    return True


for step in steps:
    if "wait" in step:
        wanted = step["wait"].encode()
        while wanted not in recent and not closed and time.monotonic() < LIMIT:
            pump(0.05)
        recent = recent[recent.find(wanted) + len(wanted):] if wanted in recent else b""
    elif "send" in step:
        os.write(master, step["send"].encode())
    elif "resize" in step:
        while pump(0.02):
            pass
        emit({"resize": step["resize"]})
        resize(master, *step["resize"])
    elif "touch" in step:
        open(step["touch"], "w").close()
    elif "pause" in step:
        until = time.monotonic() + step["pause"]
        while time.monotonic() < until and not closed:
            pump(0.02)
while not closed and time.monotonic() < LIMIT:
    pump(0.1)
if not closed:
    os.kill(pid, signal.SIGKILL)
_, status = os.waitpid(pid, 0)
emit({"exit": os.waitstatus_to_exitcode(status)})
