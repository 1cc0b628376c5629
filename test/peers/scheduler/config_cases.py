"""Random configuration files of kube-scheduler, most of them with one thing that may be wrong."""
import json

PLUGINS = ["SchedulingGates", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity", "DefaultPreemption", "NodeResourcesBalancedAllocation", "ImageLocality"]
SCORING = ["TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation", "ImageLocality"]
FILTERS = ["NodeName", "NodePorts", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity"]
# what stands where nothing of that type may, or only some
STRANGE = [None, True, False, "", "x", "1", "*", 0, 1, -1, 7, 101, 1.5, 2**31, -(2**31), [], {}, [None], {"a": 1}, [1], "15s", "1m30s", "0", "-1s"]
HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
# the same member once more, as the text has it
TWIN = "\0"


class ConfigGen:
    def __init__(self, gen):
        self.g = gen
        self.r = gen.r

    def maybe(self, into, name, p, make):
        if self.g.chance(p):
            into[name] = make()

    def text(self):
        config = self.config()
        if self.g.chance(0.65):
            for _ in range(self.g.pick((1, 4), (2, 1))):
                self.falsify(config)
        form = self.g.pick(("block", 5), ("flow", 2), ("json", 3))
        if form == "json":
            return written(config)
        text = "".join(f"{name}: {written(value)}\n" for name, value in members(config)) if form == "flow" else block(config, "")
        return self.g.pick((text, 8), ("---\n" + text, 1), (text + "---\nkind: other\n", 1), ("# a comment\n" + text, 1))

    def config(self):
        g, r = self.g, self.r
        c = dict(HEAD)
        self.maybe(c, "parallelism", 0.3, lambda: r.choice([1, 4, 16, 1000]))
        self.maybe(c, "leaderElection", 0.5, self.election)
        self.maybe(c, "clientConnection", 0.4, self.connection)
        self.maybe(c, "enableProfiling", 0.2, lambda: g.chance(0.5))
        self.maybe(c, "enableContentionProfiling", 0.2, lambda: g.chance(0.5))
        self.maybe(c, "percentageOfNodesToScore", 0.3, lambda: r.choice([0, 1, 50, 100]))
        self.maybe(c, "podInitialBackoffSeconds", 0.3, lambda: r.choice([1, 2, 5, 10]))
        self.maybe(c, "podMaxBackoffSeconds", 0.3, lambda: r.choice([10, 20, 300]))
        self.maybe(c, "profiles", 0.85, self.profiles)
        self.maybe(c, "delayCacheUntilActive", 0.1, lambda: g.chance(0.5))
        return c

    def election(self):
        g, r = self.g, self.r
        e = {}
        self.maybe(e, "leaderElect", 0.5, lambda: g.chance(0.7))
        self.maybe(e, "leaseDuration", 0.5, lambda: r.choice(["15s", "1m", "30s", "1m30s", "60000ms", "0h0m20s", "0s", "137s"]))
        self.maybe(e, "renewDeadline", 0.5, lambda: r.choice(["10s", "5s", "10.5s", "8000ms", "0"]))
        self.maybe(e, "retryPeriod", 0.5, lambda: r.choice(["2s", "500ms", "1.25s", "1500us", "0s"]))
        self.maybe(e, "resourceLock", 0.3, lambda: g.pick(("leases", 6), ("", 1), ("endpoints", 1)))
        self.maybe(e, "resourceName", 0.3, lambda: r.choice(["mine", "kube-scheduler", ""]))
        self.maybe(e, "resourceNamespace", 0.3, lambda: r.choice(["ns", "kube-system", ""]))
        return e

    def connection(self):
        r = self.r
        c = {}
        self.maybe(c, "kubeconfig", 0.4, lambda: r.choice(["/etc/kubernetes/scheduler.conf", "x", ""]))
        self.maybe(c, "qps", 0.5, lambda: r.choice([0, 5, 50, 0.5, 2.25, -1, 100]))
        self.maybe(c, "burst", 0.4, lambda: r.choice([0, 1, 100, 200]))
        self.maybe(c, "contentType", 0.3, lambda: r.choice(["application/json", "application/vnd.kubernetes.protobuf", ""]))
        self.maybe(c, "acceptContentTypes", 0.2, lambda: r.choice(["application/json", ""]))
        return c

    def profiles(self):
        g = self.g
        count = g.pick((1, 6), (2, 3), (3, 1), (0, 1))
        return [self.profile(i, count) for i in range(count)]

    def profile(self, index, count):
        g, r = self.g, self.r
        p = {}
        if count > 1 or g.chance(0.5):
            p["schedulerName"] = f"s{index}" if g.chance(0.95) else "s0"
        self.maybe(p, "percentageOfNodesToScore", 0.2, lambda: r.choice([0, 5, 100]))
        self.maybe(p, "plugins", 0.6, self.plugins)
        self.maybe(p, "pluginConfig", 0.7, lambda: [self.plugin_config(n) for n in g.few(sorted(ARGS), 1, 4)])
        # the values of arguments of what is off are not looked at here
        every = p.get("plugins", {}).get("multiPoint", {})
        off, on = [{one["name"] for one in every.get(which, [])} for which in ("disabled", "enabled")]
        if "pluginConfig" in p:
            p["pluginConfig"] = [one for one in p["pluginConfig"] if one["name"] in on or not off & {one["name"], "*"}]
        return p

    def plugins(self):
        g = self.g
        s = {}
        self.maybe(s, "multiPoint", 0.6, lambda: self.plugin_set(PLUGINS, PLUGINS + ["DefaultBinder", "PrioritySort", "*"]))
        self.maybe(s, "score", 0.3, lambda: self.plugin_set(SCORING, SCORING + ["*"]))
        self.maybe(s, "filter", 0.3, lambda: self.plugin_set(FILTERS, FILTERS + ["*"]))
        self.maybe(s, "bind", 0.1, lambda: self.plugin_set(["DefaultBinder"], ["*", "DefaultBinder"]))
        self.maybe(s, "queueSort", 0.1, lambda: self.plugin_set(["PrioritySort"], ["*"]))
        self.maybe(s, "postFilter", 0.1, lambda: self.plugin_set(["DefaultPreemption"], ["*"]))
        self.maybe(s, "preBind", 0.1, lambda: {})
        return s

    def plugin_set(self, on, off):
        g, r = self.g, self.r
        s = {}
        self.maybe(s, "enabled", 0.7, lambda: [{"name": n, **({"weight": r.choice([0, 1, 2, 5, 100])} if g.chance(0.5) else {})} for n in g.few(on, 1, 3)])
        self.maybe(s, "disabled", 0.4, lambda: [{"name": n, **({"weight": 0} if g.chance(0.2) else {})} for n in g.few(off, 1, 2)])
        if g.chance(0.04) and s.get("enabled"):
            s["enabled"].append(dict(s["enabled"][0]))
        return s

    def plugin_config(self, name):
        g = self.g
        c = {"name": name}
        if g.chance(0.93):
            c["args"] = {**({"apiVersion": HEAD["apiVersion"]} if g.chance(0.4) else {}), **({"kind": f"{name}Args"} if g.chance(0.4) else {}), **ARGS[name](self)}
        return c

    def preemption(self):
        a = {}
        self.maybe(a, "minCandidateNodesPercentage", 0.6, lambda: self.r.choice([0, 10, 100]))
        self.maybe(a, "minCandidateNodesAbsolute", 0.6, lambda: self.r.choice([0, 1, 100]))
        return a

    def dynamic(self):
        a = {}
        self.maybe(a, "filterTimeout", 0.6, lambda: self.r.choice(["0s", "10s", "1m", "2.5s"]))
        self.maybe(a, "bindingTimeout", 0.6, lambda: self.r.choice(["1s", "10m", "1h1m", "999ms"]))
        return a

    def affinity_args(self):
        a = {}
        self.maybe(a, "hardPodAffinityWeight", 0.6, lambda: self.r.choice([0, 1, 50, 100]))
        self.maybe(a, "ignorePreferredTermsOfExistingPods", 0.5, lambda: self.g.chance(0.5))
        return a

    def requirement(self):
        g, r = self.g, self.r
        op = r.choice(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
        values = {"In": ["a", "b"], "NotIn": ["a"], "Gt": ["1"], "Lt": ["7"]}.get(op)
        q = {"key": r.choice(["zone", "example.com/rack", "disk"]), "operator": op}
        if values is not None:
            q["values"] = values
        return q

    def term(self):
        g = self.g
        t = {}
        self.maybe(t, "matchExpressions", 0.8, lambda: [self.requirement() for _ in range(g.pick((1, 3), (2, 1)))])
        self.maybe(t, "matchFields", 0.3, lambda: [{"key": "metadata.name", "operator": self.r.choice(["In", "NotIn"]), "values": ["n1"]}])
        return t

    def node_affinity(self):
        g, r = self.g, self.r
        if g.chance(0.2):
            return {}
        a = {}
        self.maybe(a, "requiredDuringSchedulingIgnoredDuringExecution", 0.7, lambda: {"nodeSelectorTerms": [self.term() for _ in range(g.pick((1, 3), (2, 1)))]})
        self.maybe(a, "preferredDuringSchedulingIgnoredDuringExecution", 0.5, lambda: [{"weight": r.choice([1, 5, 100]), "preference": self.term()}])
        return {"addedAffinity": a}

    def weighed(self, weights):
        g, r = self.g, self.r
        return [{"name": n, **({"weight": r.choice(weights)} if g.chance(0.7) else {})} for n in g.few(["cpu", "memory", "example.com/gpu", "ephemeral-storage"], 0, 3)]

    def balanced(self):
        a = {}
        self.maybe(a, "resources", 0.7, lambda: self.weighed([0, 1, 1, 1]))
        return a

    def fit(self):
        g, r = self.g, self.r
        a = {}
        self.maybe(a, "ignoredResources", 0.3, lambda: ["example.com/foo"])
        self.maybe(a, "ignoredResourceGroups", 0.3, lambda: ["example.com"])
        if g.chance(0.7):
            kind = r.choice(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"])
            s = {"type": kind}
            self.maybe(s, "resources", 0.7, lambda: self.weighed([0, 1, 3, 100]))
            if kind == "RequestedToCapacityRatio":
                s["requestedToCapacityRatio"] = {"shape": [{"utilization": 0, "score": r.choice([0, 10])}, {"utilization": r.choice([50, 100]), "score": r.choice([5, 10])}]}
            a["scoringStrategy"] = s
        return a

    def spread(self):
        g, r = self.g, self.r
        if g.chance(0.4):
            return {} if g.chance(0.5) else {"defaultingType": "System"}
        keys = g.few(["zone", "kubernetes.io/hostname", "rack"], 0, 2)
        return {"defaultingType": "List", "defaultConstraints": [{"maxSkew": r.choice([1, 2, 5]), "topologyKey": k, "whenUnsatisfiable": r.choice(["DoNotSchedule", "ScheduleAnyway"])} for k in keys]}

    def volume(self):
        a = {}
        self.maybe(a, "bindTimeoutSeconds", 0.7, lambda: self.r.choice([0, 60, 600]))
        return a

    @staticmethod
    def is_asked(path, value):
        """False for a number that only this scheduler refuses."""
        number = isinstance(value, int) and not isinstance(value, bool)
        if path[-1] == "weight" and "plugins" in path:
            return not (number and value < 0)
        return not (path[-1] in ("qps", "podMaxBackoffSeconds") and number and value > 10**6)

    def falsify(self, config):
        """Changes one place, or says something twice, or under another name."""
        g, r = self.g, self.r
        places = list(walk(config, ()))
        path, holder, key = r.choice(places)
        if isinstance(holder, list):
            way = g.pick(("drop", 1), ("strange", 2), ("again", 1))
        else:
            way = g.pick(("drop", 1), ("strange", 5), ("twin", 1), ("rename", 1), ("extra", 1))
        if way == "drop":
            del holder[key]
        elif way == "strange":
            holder[key] = r.choice([one for one in STRANGE if self.is_asked(path, one)])
        elif way == "again":
            holder.append(holder[key])
        elif way == "twin":
            holder[key + TWIN] = holder[key]
        elif way == "rename":
            holder[r.choice([key.upper(), key + "s", key[:1].upper() + key[1:]])] = holder.pop(key)
        else:
            holder[r.choice(["foo", "weights", "labelSelector", "shape"])] = r.choice(STRANGE)


ARGS = {
    "DefaultPreemption": ConfigGen.preemption,
    "DynamicResources": ConfigGen.dynamic,
    "InterPodAffinity": ConfigGen.affinity_args,
    "NodeAffinity": ConfigGen.node_affinity,
    "NodeResourcesBalancedAllocation": ConfigGen.balanced,
    "NodeResourcesFit": ConfigGen.fit,
    "PodTopologySpread": ConfigGen.spread,
    "VolumeBinding": ConfigGen.volume,
}


def walk(value, path):
    """Every place but those of which this scheduler asks more than kube-scheduler: names of what is off, or configured."""
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    for key, inner in items:
        if len(path) >= 2 and path[-2] in ("disabled", "pluginConfig") and key == "name":
            continue
        if key in ("disabled", "pluginConfig"):
            pass
        elif len(path) >= 1 and path[-1] in ("disabled", "pluginConfig"):
            pass
        else:
            yield path + (key,), value, key
        if isinstance(inner, (dict, list)) and not (len(path) >= 1 and path[-1] == "disabled"):
            yield from walk(inner, path + (key,))


def members(value):
    return [(name.rstrip(TWIN), inner) for name, inner in value.items()]


def written(value):
    """JSON, in which a member may stand twice."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)}: {written(inner)}" for name, inner in members(value)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(written(inner) for inner in value) + "]"
    return json.dumps(value)


def block(value, indent):
    """YAML with a line for each member."""
    text = ""
    for name, inner in members(value):
        if isinstance(inner, dict) and inner:
            text += f"{indent}{name}:\n{block(inner, indent + '  ')}"
        elif isinstance(inner, list) and inner and all(isinstance(one, dict) and one for one in inner):
            text += f"{indent}{name}:\n"
            for one in inner:
                text += f"{indent}- {block(one, indent + '  ')[len(indent) + 2:]}"
        elif isinstance(inner, str) and inner.replace("-", "").replace("/", "").replace(".", "").isalnum() and not inner[:1].isdigit() and inner[:1] != "-":
            text += f"{indent}{name}: {inner}\n"
        else:
            text += f"{indent}{name}: {written(inner)}\n"
    return text
