package story

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/operate/report"
	"orbweaver/internal/simweb"
)

// A Verb does what a line says. words are the words after the verb.
type Verb func(s *Story, words []string)

// Verbs are verbs by name.
type Verbs map[string]Verb

// Story is one run of a story.
type Story struct {
	T     *testing.T
	Vars  map[string]any // i, seed, the values of the case, and what "let" keeps
	World simweb.Config  // of the verb "web"
	Hosts *Hosts         // of the verb "host"; nil for a simulated web
	Rig   *testbed.Rig
	Rand  *rand.Rand
	Sets  []string // settings of the verb "set", in order: NAME=VALUE
	// More adds values of expressions; nil for none.
	More func(env map[string]any)

	verbs Verbs
	line  line
	began time.Time
	crawl *crawl
	// ended is the report of the last run that has ended.
	ended report.Report
}

// Run runs the stories in a directory as subtests. more are verbs beside, or in place of, those of this package.
func Run(t *testing.T, dir string, more Verbs) {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories in %s: %v", dir, err)
	}
	verbs := verbsWith(more)
	for _, file := range files {
		all, err := read(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if s := &all[i]; s.attrs["full"] == "" || testbed.Full {
				t.Run(s.name, func(t *testing.T) { s.runCases(t, verbs) })
			}
		}
	}
}

// verbsWith are the verbs of this package with more, or others in their place.
func verbsWith(more Verbs) Verbs {
	verbs := crawlVerbs()
	maps.Copy(verbs, more)
	return verbs
}

// Play runs the stories of a text as subtests, and prints the text if one fails. more is as in Run.
func Play(t *testing.T, text string, more Verbs) {
	t.Helper()
	for _, s := range parse("drawn", text) {
		t.Run(s.name, func(t *testing.T) { s.runCases(t, verbsWith(more)) })
	}
	if t.Failed() {
		t.Log(text)
	}
}

// runCases runs a story with each of its cases and seeds. A story with the word "sample" runs a third of its cases in
// the reduced size, and each story runs one seed there.
func (s *script) runCases(t *testing.T, verbs Verbs) {
	cases := s.cases
	if s.attrs["sample"] != "" {
		cases = nil
		for _, c := range testbed.Sample(s.cases) {
			cases = append(cases, c)
		}
	}
	for _, c := range cases {
		for i := range s.seeds() {
			seed := *testbed.FirstSeed + uint64(s.number("from", 0)+i)
			name, _ := c[titleOf].(string)
			if s.attrs["seeds"] != "" {
				name = strings.TrimPrefix(fmt.Sprintf("%s, seed %d", name, seed), ", ")
			}
			one := func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { s.runOnce(t, verbs, c, i, seed) })
			}
			if name == "" {
				one(t)
			} else {
				t.Run(name, one)
			}
		}
	}
}

// seeds is how many seeds a story has: those of -worlds, in the share or number that its attribute seeds names.
func (s *script) seeds() int {
	switch {
	case s.attrs["seeds"] == "":
		return 1
	case testbed.Reduced:
		return min(1, *testbed.SeedCount)
	case s.attrs["seeds"] == "all":
		return *testbed.SeedCount
	case s.attrs["seeds"] == "half":
		return (*testbed.SeedCount + 1) / 2
	}
	return min(*testbed.SeedCount, s.number("seeds", 1))
}

func (s *script) number(attr string, without int) int {
	if n, ok := number(s.attrs[attr]).(int); ok {
		return n
	}
	return without
}

func (s *script) runOnce(t *testing.T, verbs Verbs, values map[string]any, i int, seed uint64) {
	t.Helper()
	one := &Story{
		T: t, Vars: map[string]any{"i": i, "seed": int(seed), "reduced": testbed.Reduced}, began: time.Now(),
		Rand: rand.New(rand.NewPCG(seed, 3)),
	}
	for name, value := range values {
		one.Vars[name] = value
	}
	defer one.close()
	one.verbs = verbs
	one.play(s.head)
	one.play(s.lines)
}

// play does what lines say, up to the first fault.
func (s *Story) play(lines []line) {
	s.T.Helper()
	for _, l := range lines {
		s.line = l
		verb, _, _ := strings.Cut(l.text, " ")
		do := s.verbs[verb]
		if do == nil {
			s.Fatalf("there is no verb %s", verb)
		}
		words := split(l.text)[1:]
		if strings.Contains(l.text, "$") {
			env := s.env()
			words = expandAll(spread(words, env), env)
		}
		do(s, words)
		if s.T.Failed() {
			r := s.Report()
			s.T.Fatalf("%s: the story ends here: %s: %s; outcomes %v", l.place, r.State, r.Reason, r.Outcomes)
		}
	}
}

// repeat is the verb "repeat": the lines below it are done so many times.
func repeat(s *Story, words []string) {
	block := s.line.block
	for range int(s.number(words[0])) {
		s.play(block)
	}
}

// Fatalf ends the story with a fault of its line.
func (s *Story) Fatalf(format string, args ...any) {
	s.T.Helper()
	s.T.Fatalf("%s: %s: %s", s.line.place, s.line.text, fmt.Sprintf(format, args...))
}

// Errorf reports a fault of the line.
func (s *Story) Errorf(format string, args ...any) {
	s.T.Helper()
	s.T.Errorf("%s: %s: %s", s.line.place, s.line.text, fmt.Sprintf(format, args...))
}

// Text is the text of the line after its verb.
func (s *Story) Text() string {
	_, text, _ := strings.Cut(s.line.text, " ")
	return text
}
