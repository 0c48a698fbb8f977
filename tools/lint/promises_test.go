package lint

import (
	"path"
	"regexp"
	"strings"
)

// promises are the numbered promises and the package that gives each. A promise is a sentence in the package's doc.go
// (or in the comment of the type that keeps it), is cited where the code relies on it or checks it, and has a test
// Test<id>_... in the package, or in bench/scenario where the whole engine runs.
var promises = map[string]string{
	"workbench":                 "W1 W2 W3 W4 W5",
	"workbench/cold":            "H1 H2 H3 H4",
	"sieve":                     "S1 S2 S3 S4 S5",
	"virtualize":                "V1 V2 V3",
	"dnsres":                    "D1",
	"warc":                      "A1 A2",
	"engine/net/fetch":          "B1",
	"engine/peering/ring":       "O1 O2 O3 O4",
	"engine/peering/membership": "M1 M2 M3 M4 M5 M6 M7",
	"engine/cluster/leasing":    "F1 F2 F3 F4",
	"engine/peering/outbox":     "K1 K2 K3 K4",
	"engine":                    "E1",
}

func checkPromises(h *tree) (faults []string) {
	for _, room := range sorted(promises) {
		for id := range strings.FieldsSeq(promises[room]) {
			faults = append(faults, h.checkPromise(room, id)...)
		}
	}
	return append(append(faults, unexplainedTests(h)...), sharedPromises(h)...)
}

func (h *tree) checkPromise(dir, id string) (faults []string) {
	pattern, test := regexp.MustCompile(`\b`+id+`\b`), regexp.MustCompile(`(?m)^func Test`+id+`_`)
	exists, tested, mentions := false, false, 0
	for _, f := range h.files {
		in := f.dir == dir || strings.HasPrefix(f.dir, dir+"/")
		exists = exists || in
		if in && !f.test {
			mentions += len(pattern.FindAllString(h.texts[f.path], -1))
		}
		tested = tested || f.test && (in || strings.HasPrefix(f.dir, "bench/scenario/")) && test.MatchString(h.texts[f.path])
	}
	if (exists || h.whole) && mentions < 2 {
		faults = append(faults, dir+": promise "+id+" is not both explained and cited: write its sentence into doc.go, "+
			"and name it where it is checked or relied on")
	}
	if (exists || h.whole) && !tested {
		faults = append(faults, dir+": promise "+id+" has no test: write one whose name begins with Test"+id+"_")
	}
	return faults
}

// unexplainedTests finds tests named after a promise that no comment or code names. Ids of promises have one digit;
// those with two name a case of a catalogue.
func unexplainedTests(h *tree) (faults []string) {
	named := make(map[string]bool)
	ids, test := regexp.MustCompile(`\b[A-Z]\d\b`), regexp.MustCompile(`(?m)^func (Test([A-Z]\d)_\w*)`)
	for _, f := range h.files {
		if !f.test {
			for _, id := range ids.FindAllString(h.texts[f.path], -1) {
				named[id] = true
			}
		}
	}
	for _, f := range h.files {
		for _, m := range test.FindAllStringSubmatch(h.texts[f.path], -1) {
			if f.test && !named[m[2]] {
				faults = append(faults, f.path+": "+m[1]+" is named after promise "+m[2]+", which no doc.go explains")
			}
		}
	}
	return faults
}

// sharedPromises finds promises of a package whose id another package gives to a promise of its own.
func sharedPromises(h *tree) (faults []string) {
	id := regexp.MustCompile(`(?m)^\s*(?:- )?([A-Z]\d): `)
	first := make(map[string]string) // by id
	for _, f := range h.files {
		if f.test || path.Base(f.path) != "doc.go" || f.ast.Doc == nil {
			continue
		}
		for _, m := range id.FindAllStringSubmatch(f.ast.Doc.Text(), -1) {
			if other, isTaken := first[m[1]]; isTaken && other != f.dir {
				faults = append(faults, f.path+": "+m[1]+" is a promise of "+other+" and "+f.dir+": take a free letter")
			}
			first[m[1]] = f.dir
		}
	}
	return faults
}
