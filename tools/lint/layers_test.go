package lint

import (
	"fmt"
	"path"
	"strings"
)

// layers are the folders of the module from the bottom to the top, each with all that is below it. The longest entry
// that fits a package decides. A package imports its own layer and those before it.
func layers() []string {
	return []string{
		"internal",
		componentFolders,
		"engine/net",
		"engine/page",
		"engine/records",
		"engine/peering",
		"engine/state",
		"engine/traps",
		"engine/store",
		"engine/frontier",
		"engine/workers",
		"engine/cluster",
		"engine/durable",
		"engine/operate",
		"engine/check",
		"engine",
		"crawler derive",
		"internal/simweb internal/simnet internal/trial internal/cli",
		"bench",
		"cmd tools",
	}
}

const (
	// componentFolders are libraries of their own: none of them imports another.
	componentFolders = "workbench sieve virtualize dnsres warc"
	// testKits are imported by tests, by the bench and by each other.
	testKits = "internal/golden derive/derivetest internal/vfs/faultfs internal/vfs/vfstest dnsres/dnstest " +
		"engine/peering/membership/membershiptest"
	// program is the package of the program; those below it are its commands.
	program = "cmd/orbweaver"
)

// layerOf is the number of a package's layer and the entry that fits it; -1 if there is none.
func layerOf(dir string) (layer int, folder string) {
	for at := dir; at != "."; at = path.Dir(at) {
		for number, row := range layers() {
			if hasWord(row, at) {
				return number, at
			}
		}
	}
	return -1, ""
}

// checkImports finds imports that do not point down.
func checkImports(h *tree) (faults []string) {
	for _, dir := range sorted(h.packages()) {
		if layer, _ := layerOf(dir); layer < 0 {
			faults = append(faults, dir+": no layer: give it a folder in layers (tools/lint/layers_test.go)")
		}
	}
	for _, f := range h.files {
		for _, spec := range f.ast.Imports {
			target, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/")
			if !ours || f.dir == target {
				continue
			}
			if why := whyNot(f, target); why != "" {
				faults = append(faults, fmt.Sprintf("%s: %s may not import %s: %s", h.at(spec), f.dir, target, why))
			}
		}
	}
	return faults
}

// whyNot returns "" if the file may import the target, and otherwise what to do about it.
func whyNot(f *goFile, target string) string {
	importer, folder := layerOf(f.dir)
	imported, targetFolder := layerOf(target)
	isKit := func(dir string) bool {
		return hasWord(testKits+" internal/trial/load internal/simnet", dir) || strings.HasPrefix(dir, "bench/")
	}
	switch {
	case targetFolder == "cmd" && !isProgram(f.dir), targetFolder == "tools":
		return "programs and tools are leaves; move what is shared into a package below them"
	case target == "engine/operate/control" && folder != "cmd":
		return "only cmd opens the control port; ask the Engine itself"
	case isSimulated(f.dir) && !isSimulated(target) && target != "dnsres/dnstest":
		return "the judge must not use the defendant's arithmetic; write it again"
	case folder == "tools" && strings.HasPrefix(targetFolder, "engine") && f.dir != "tools/conformance":
		return "tools read the componentFolders, never the engine"
	case hasWord(testKits, target) && (f.test || isKit(f.dir)):
		return ""
	case hasWord(testKits, target):
		return "it is for tests alone"
	case imported > importer:
		return "it is in a higher layer; take the three or four things that you use as arguments"
	case imported == importer && hasWord(componentFolders, folder) && folder != targetFolder:
		return "components do not know each other; speak bytes, integers and times, and let the engine join the two"
	}
	return ""
}

// isSimulated reports whether a package is part of the simulated web or of its judge.
func isSimulated(dir string) bool {
	return hasWord("internal/simweb internal/simnet", dir) || strings.HasPrefix(dir, "internal/simweb/")
}

func isProgram(dir string) bool { return dir == program || strings.HasPrefix(dir, program+"/") }
