"""Our side: the project's own float64 reference, through `attnscope-reference attend`."""

import json
import subprocess
from dataclasses import dataclass

import numpy as np

from inputs import ROOT


@dataclass
class Answer:
    """O [H, L, d_h] and A [H, L, L] of one input under one link."""

    o: np.ndarray
    a: np.ndarray
    torch_mask: str


class Reference:
    """Asks once for all links of an input and keeps the answers."""

    def __init__(self, command, folder):
        cargo = ["cargo", "run", "--quiet", "--bin", "attnscope-reference", "--"]
        self.command = [command] if command else cargo
        self.folder = folder
        self.known = {}

    def ask(self, case, links):
        """Computes `case` under each of `links`; None is the case's own choice."""
        new = [link for link in dict.fromkeys(links) if (case.name, link) not in self.known]
        path = case.write(self.folder)
        chosen = [link for link in new if link is not None]
        if chosen:
            self._run(case, path, chosen, chosen)
        if None in new:
            self._run(case, path, [], [None])

    def _run(self, case, path, arguments, asked):
        heads, length, _ = case.shape
        command = [*self.command, "attend", str(path), *arguments]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            for link, line in zip(asked, process.stdout, strict=True):
                said = json.loads(line)
                if said["warnings"]:
                    raise SystemExit(f"the link {link} is not understood")
                self.known[case.name, link] = Answer(
                    np.array(said["o"]).reshape(case.shape),
                    np.array(said["a"]).reshape(heads, length, length),
                    said["torch_mask"] or "torch.ones(L, L, dtype=torch.bool)",
                )
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} failed")

    def get(self, case, link):
        return self.known[case.name, link]
