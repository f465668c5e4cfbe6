"""The library's side: a process that answers one request a line."""

import json
import os
import subprocess


class Ours:
    def __init__(self, program, threads):
        environment = dict(os.environ, RAYON_NUM_THREADS=str(threads))
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def ask(self, do, **request):
        print(json.dumps(dict(do=do, **request)), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(f"{do}: {answer['error']}")
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()
