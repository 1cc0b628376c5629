"""Random cases that lean on backfills of resize conditions. Kind `backfill-scenarios`.

An operation that looks at the pod manager's copy does the same on both sides only while the two copies are the same. So requests
fail often, other clients write resize conditions, and statuses carry some, most of them without an observedGeneration.
"""
import copy

from generate_cases import Steps
from more_cases import MoreGen


class BackfillGen(MoreGen):
    def more_status(self, p, **fixed):
        s = super().more_status(p, **fixed)
        if self.chance(0.3) and not any(c["type"].startswith("PodResize") for c in s["conditions"]):
            for kind in self.r.sample(["PodResizePending", "PodResizeInProgress"], self.r.choice([1, 1, 2])):
                s["conditions"].insert(0, self.resize_condition(kind))
        return s

    def resize_condition(self, kind):
        c = {"type": kind, "status": "True", "lastProbeTime": self.time(), "lastTransitionTime": self.time()}
        if kind == "PodResizePending":
            c["reason"] = self.r.choice(["Deferred", "Infeasible", "Other"])
        elif self.chance(0.3):
            c["reason"] = "Error"
        if self.chance(0.3):
            c["observedGeneration"] = self.r.choice([1, 2, 3])
        if self.chance(0.3):
            c["message"] = "no room"
        return c

    def one_resize(self, steps, p):
        k = self.r.random()
        if k < 0.2:
            uids = [q["metadata"]["uid"] for q in self.pods if self.chance(0.8)]
            self.resized.update(uids)
            steps.append({"op": "backfillPodResizeConditions", "podUIDs": uids})
        elif k < 0.35:
            self.fail(steps, p, ["get", "get", "patch"])
        elif k < 0.5:
            self.observe(steps, p)
        elif k < 0.56 and self.is_newest(p):
            q = copy.deepcopy(p)
            q["status"] = self.more_status(p)
            steps.append({"op": "apiserver.put", "pod": q})
            self.observe(steps, p)
        else:
            super().one_resize(steps, p)

    def is_newest(self, p):
        """The pod is no static pod, and none has been made under its name since."""
        static = "file" == p["metadata"]["annotations"]["kubernetes.io/config.source"]
        return not static and [q for q in self.pods if self.key(q) == self.key(p)][-1] is p

    def backfill_scenario(self, i):
        r, steps = self.r, Steps()
        self.observes = 0.5 if self.chance(0.2) else 1.0
        self.pods, self.mirrors, self.resized = [], {}, set()
        themes = [self.resize] * 3 + [self.rest] + [self.turn_gate] * self.chance(0.3) + [self.runtime_conditions] * self.chance(0.2)
        for name in [f"pod{k}" for k in range(r.choice([1, 1, 2]))]:
            for ns in r.sample(["a", "b"], r.choice([1, 1, 2])):
                self.create(steps, self.more_pod(ns, name))
        for _ in range(r.randrange(5, 14)):
            r.choice(themes)(steps, r.choice(self.pods))
        for p in self.pods:
            self.observe(steps, p, sure=True)
        steps += [{"op": "advance", "seconds": 10}, {"op": "advance", "seconds": 10}]
        return {"name": f"backfill-{i:04d}", "steps": steps}
