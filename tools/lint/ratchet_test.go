package lint

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// ratchetFile holds what the tree still owes to the rules of ratchets. Rows are rule, place and count, separated by
// tabs. The place "*" stands for all places without a row.
const ratchetFile = "tools/lint/ratchet.txt"

// listMost is how many findings of a place a failure prints.
const listMost = 12

var (
	ratchetWrite = flag.Bool("ratchet.write", false, "rewrite "+ratchetFile+"; refuses to raise the total of a rule")
	ratchetList  = flag.String("ratchet.list", "", "print all findings of a rule, or of RULE:PLACE")
)

// A finding is one violation of a rule that the whole tree cannot satisfy yet.
type finding struct {
	place string // package, document or type by which the ratchet counts
	at    string // file:line
	text  string
	count int // 1, or the measured size for rules about sizes
}

// A ratchet is a rule whose findings may only become fewer.
type ratchet struct {
	rule    string
	find    func(*tree) []finding
	instead string
}

func ratchets() []ratchet {
	return []ratchet{
		{"words", findWords, "docs/glossary.md has the words; name the actor, then the action"},
		{"metaphors", findMetaphors, "docs/glossary.md has the term"},
		{"names", findNames, "say what the thing is or does; docs/glossary.md has the terms"},
		{"bare-names", findBareNames, "a field is a noun, a function is a verb with an object"},
		{"line-width", findWideLines, "break the line at 120 columns"},
		{"sentences", findLongSentences, "write two sentences; 25 words are the most"},
		{"commit-subject", findLongSubjects, "72 characters are the most; the body has room"},
		{
			"package-files",
			findLargePackages(packageFiles),
			"a package has at most 30 files without tests: move a part into a package of its own",
		},
		{
			"package-lines",
			findLargePackages(packageLines),
			"a package has at most 4,000 lines without tests: move a part into a package of its own",
		},
		{
			"struct-fields",
			findLargeStructs,
			"a struct has at most 20 fields: group those that belong together, or add the record to recordStructs",
		},
		{"type-methods", findLargeTypes(methodCount), "a type has at most 20 methods: it has more than one job"},
		{"type-files", findLargeTypes(fileCount), "the methods of a type are in at most 4 files: it has more than one job"},
		{
			"pointer-cycles",
			findPointerCycles,
			"at most two struct types of a package refer to each other: use a small interface or pass the value",
		},
		{"nil-tests", findNilTests, "a collaborator is always there: use an implementation that does nothing"},
		{"promise-ids", findSharedPromises, "an id stands for one promise in the whole repository: take a free letter"},
		{"upward-imports", findUpwardImports, "imports point downward in layers (layers_test.go)"},
	}
}

// testRatchets compares the findings of each rule with the checked-in counts.
func testRatchets(t *testing.T, h *tree) {
	recorded, err := parseRatchet(h.texts[ratchetFile])
	if err != nil {
		t.Fatalf("%s: %v", ratchetFile, err)
	}
	found := make(map[string]map[string]int)
	for _, r := range ratchets() {
		findings := r.find(h)
		found[r.rule] = countByPlace(findings)
		t.Run(r.rule, func(t *testing.T) {
			list(t, r.rule, findings)
			if *ratchetWrite {
				return
			}
			for _, fault := range compareRatchet(r, findings, recorded[r.rule]) {
				t.Error(fault)
			}
		})
	}
	if !*ratchetWrite {
		return
	}
	next, refused := lowerRatchet(recorded, found)
	for _, fault := range refused {
		t.Error(fault)
	}
	name := filepath.Join("..", "..", filepath.FromSlash(ratchetFile))
	if err := os.WriteFile(name, []byte(formatRatchet(next)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// list prints the findings that -ratchet.list asks for.
func list(t *testing.T, rule string, findings []finding) {
	wanted, place, placed := strings.Cut(*ratchetList, ":")
	if wanted != rule {
		return
	}
	for _, f := range findings {
		if !placed || f.place == place {
			fmt.Printf("%s: %s\n", f.at, f.text)
		}
	}
	t.Logf("%d findings", len(findings))
}

func countByPlace(findings []finding) map[string]int {
	counts := make(map[string]int)
	for _, f := range findings {
		counts[f.place] += f.count
	}
	return counts
}

func sum(counts map[string]int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}

// compareRatchet returns a fault for each place whose count differs from the recorded one.
func compareRatchet(r ratchet, findings []finding, recorded map[string]int) (faults []string) {
	found := countByPlace(findings)
	for _, place := range sorted(found) {
		if found[place] <= recorded[place] {
			continue
		}
		fault := fmt.Sprintf(
			"%s: %s: %d, the ratchet allows %d: %s.",
			r.rule,
			place,
			found[place],
			recorded[place],
			r.instead,
		)
		listed := 0
		for _, f := range findings {
			if f.place != place {
				continue
			}
			if listed++; listed > listMost {
				fault += fmt.Sprintf("\n\tall: go test ./tools/lint -run TestHouse/ratchet -ratchet.list %s:%s", r.rule, place)
				break
			}
			fault += "\n\t" + f.at + ": " + f.text
		}
		if sum(found) <= sum(recorded) {
			fault += "\n\tThe total has not risen. If code has moved here: go test ./tools/lint -ratchet.write"
		}
		faults = append(faults, fault)
	}
	for _, place := range sorted(recorded) {
		if found[place] < recorded[place] {
			faults = append(
				faults,
				fmt.Sprintf(
					"%s: %s: %d instead of %d: lower the ratchet: go test ./tools/lint -ratchet.write",
					r.rule,
					place,
					found[place],
					recorded[place],
				),
			)
		}
	}
	return faults
}

// lowerRatchet returns the counts to record. A rule whose total has risen keeps its recorded counts and is refused;
// within a total, counts may move between places with the code. A rule that was never recorded begins with what is
// found.
func lowerRatchet(recorded, found map[string]map[string]int) (next map[string]map[string]int, refused []string) {
	next = make(map[string]map[string]int)
	for _, rule := range sorted(found) {
		next[rule] = found[rule]
		before, known := recorded[rule]
		if known && sum(found[rule]) > sum(before) {
			next[rule] = before
			refused = append(
				refused,
				fmt.Sprintf("%s: %d findings, the ratchet allows %d: a total may only fall", rule, sum(found[rule]), sum(before)),
			)
		}
	}
	return next, refused
}

func parseRatchet(text string) (map[string]map[string]int, error) {
	counts := make(map[string]map[string]int)
	number := 0
	for row := range strings.Lines(text) {
		number++
		row = strings.TrimSuffix(row, "\n")
		if row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		cells := strings.Split(row, "\t")
		if len(cells) != 3 {
			return nil, fmt.Errorf("line %d: want rule, place and count, separated by tabs", number)
		}
		n, err := strconv.Atoi(cells[2])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if counts[cells[0]] == nil {
			counts[cells[0]] = make(map[string]int)
		}
		if cells[1] != "*" {
			counts[cells[0]][cells[1]] = n
		}
	}
	return counts, nil
}

func formatRatchet(counts map[string]map[string]int) string {
	var b strings.Builder
	b.WriteString("# Violations that are left, by rule and place. Written by: go test ./tools/lint -ratchet.write\n")
	for _, rule := range sorted(counts) {
		fmt.Fprintf(&b, "%s\t*\t0\n", rule)
		for _, place := range sorted(counts[rule]) {
			fmt.Fprintf(&b, "%s\t%s\t%d\n", rule, place, counts[rule][place])
		}
	}
	return b.String()
}
