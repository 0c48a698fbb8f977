package story

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/derive/quality"
	"orbweaver/engine/check/fsck"
	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/traps"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/vfs"
)

// env are the values of expressions.
func (s *Story) env() map[string]any {
	env := map[string]any{
		"now":   time.Since(s.began).Seconds(),
		"rand":  func(most any) float64 { return s.Rand.Float64() * toFloat(most) },
		"each":  each,
		"words": wordsOf,
		"gaps":  gaps,
		"file": func(name string) string {
			b, err := os.ReadFile(name)
			if err != nil {
				s.Fatalf("%v", err)
			}
			return string(b)
		},
		"hex": func(n int) string { return strconv.FormatInt(int64(n), 16) },
		"pace": func(from, to any) float64 {
			return pace(s.requestsOf(func(r *Request) bool { return r.At >= toFloat(from) && r.At <= toFloat(to) }))
		},
		"requests": s.requests(),
		"pages": func(host string) []Request {
			return s.requestsOf(func(r *Request) bool { return r.Host == host && r.Path != "/robots.txt" && r.Path != "" })
		},
		"files": func(host string) []Request {
			return s.requestsOf(func(r *Request) bool { return r.Host == host && r.Path == "/robots.txt" })
		},
		"took":     s.took,
		"distinct": s.distinct,
		"noise":    noise,
		"format":   func(format string, n int) string { return fmt.Sprintf(format, n) },
		"asked": func(url string) int {
			return len(s.requestsOf(func(r *Request) bool { return r.URL == "http://"+url }))
		},
	}
	if s.Hosts != nil {
		env["served"], env["repeated"] = s.Hosts.served()
	}
	if s.Rig != nil {
		said := s.Rig.EngineLog.String
		env["said"] = func(text string) int { return strings.Count(said(), text) }
		env["log"] = said
		env["judge"] = s.judge
		env["ask"] = s.ask
		env["dials"] = s.Rig.Net.Stats().Dials
		env["sound"] = s.isSound
		env["polite"] = s.isPolite
		env["fsck"] = s.isFsckSound
		env["order"] = func() *quality.Report { return testbed.Order(s.T, s.Rig.FS) }
		env["fifth"] = s.firstFifth
		env["findings"] = func() []fsck.Finding { return testbed.Fsck(s.T, s.Rig.FS).Findings }
		env["examined"] = s.examined
		env["final"] = s.finalLines
		env["outcomesOf"] = outcomesOf
		env["via"] = s.via
		env["skipped"] = s.skipped
		env["rows"] = s.rows
		env["disk"] = func() int { return int(testbed.DiskUsed(s.T, s.Rig.FS)) }
		r := s.Report()
		env["report"], env["state"], env["reason"], env["waiting"] = r, string(r.State), r.Reason, r.Waiting
		env["outcomes"], env["queued"] = r.Outcomes, r.URLsQueued
		env["stored"] = r.PagesStored + r.RevisitsStored
		env["blamed"] = blamed(&r)
	}
	if s.More != nil {
		s.More(env)
	}
	for name, value := range s.Vars {
		env[name] = value
	}
	return env
}

// ask asks the running crawl a question of its operator. pairs are names and values of parameters.
func (s *Story) ask(question string, pairs ...string) any {
	s.T.Helper()
	values := map[string][]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values[pairs[i]] = []string{pairs[i+1]}
	}
	answer, err := s.crawl.engine.Operator().AnswerQuestion(s.T.Context(), question, values)
	if err != nil {
		s.Fatalf("%v", err)
	}
	return answer
}

func toFloat(n any) float64 {
	switch n := n.(type) {
	case int:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

// each is a text for each number below n.
func each(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// wordsOf are some words that depend on a number.
func wordsOf(n, count int) string {
	random := rand.New(rand.NewPCG(uint64(n), 3))
	var b strings.Builder
	for range count {
		fmt.Fprintf(&b, "w%c%c%c ", 'a'+random.IntN(26), 'a'+random.IntN(26), 'a'+random.IntN(26))
	}
	return b.String()
}

// gaps are the times from the end of each request to the next one.
func gaps(requests []Request) (all []float64) {
	for i := 1; i < len(requests); i++ {
		all = append(all, requests[i].At-requests[i-1].End)
	}
	return all
}

// took is how long a crawl took to the last of so many pages of a host, from the first request of all. Each page counts
// when it is asked for the first time.
func (s *Story) took(host string, pages int) float64 {
	known := map[string]bool{}
	all := s.requests()
	for _, r := range all {
		if r.Host == host && (r.Path == "/" || r.Path != "" && strings.Trim(r.Path[1:], "0123456789") == "") {
			if known[r.Path] = true; len(known) == pages {
				return r.At - all[0].At
			}
		}
	}
	s.Errorf("%d pages of %s were asked for, want %d", len(known), host, pages)
	return math.Inf(1)
}

// pace is the mean time between two requests.
func pace(requests []Request) float64 {
	if len(requests) < 2 {
		return 0
	}
	return (requests[len(requests)-1].At - requests[0].At) / float64(len(requests)-1)
}

// requests are all requests that the web saw.
func (s *Story) requests() (all []Request) {
	if s.Hosts != nil {
		return s.Hosts.Requests()
	}
	if s.Rig == nil {
		return nil
	}
	for a := range s.Rig.Log.All() {
		all = append(all, Request{
			URL: a.URL, Host: a.Host, Path: a.Path, Agent: a.Agent, Answer: fmt.Sprint(a.Status),
			At: a.Time.Sub(s.began).Seconds(), End: a.End.Sub(s.began).Seconds(),
		})
	}
	return all
}

func (s *Story) requestsOf(is func(*Request) bool) []Request {
	return slices.DeleteFunc(s.requests(), func(r Request) bool { return !is(&r) })
}

// firstFifth measures the first fifth of the pages that were asked for.
func (s *Story) firstFifth() *testbed.FirstFifth {
	s.T.Helper()
	m, err := simweb.NewModel(s.World)
	if err != nil {
		s.Fatalf("%v", err)
	}
	var visits []string
	for _, r := range s.requests() {
		if r.Path != "/robots.txt" {
			visits = append(visits, r.URL)
		}
	}
	f := testbed.MeasureFifth(s.T, m, s.Rig.Seeds, visits)
	s.T.Logf("%+v, gain %.3f", f, f.Gain())
	return &f
}

// judge compares the log of the web and the archive with the ground truth.
func (s *Story) judge() judge.Verdict {
	s.T.Helper()
	return s.Rig.MustJudge(s.T, testbed.Promise(s.config()), s.Rig.FS)
}

// isSound says that the judge finds no fault. A number is how many requests may be repeated, after kills.
func (s *Story) isSound(repeats ...int) bool {
	s.T.Helper()
	p := testbed.Promise(s.config())
	p.Resumed = len(repeats) > 0
	v := s.Rig.MustJudge(s.T, p, s.Rig.FS)
	repeated := v.Repeated
	if len(repeats) > 0 {
		v.Repeated, v.Overlap = 0, 0
	}
	is := v.Sound() && (len(repeats) == 0 || repeated <= repeats[0])
	if !is {
		v.Print(s.T.Output())
		s.T.Logf("%d requests are repeated", repeated)
	}
	return is
}

// isPolite says that the judge finds no fault of politeness.
func (s *Story) isPolite() bool {
	s.T.Helper()
	v := s.judge()
	if !v.Polite() {
		v.Print(s.T.Output())
	}
	return v.Polite()
}

// isFsckSound says that fsck finds no fault, and changes nothing.
func (s *Story) isFsckSound() bool {
	s.T.Helper()
	r := testbed.FsckReadOnly(s.T, s.Rig.FS)
	if !r.Sound() {
		r.Print(s.T.Output())
	}
	return r.Sound()
}

// examined is how much of an area fsck has examined.
func (s *Story) examined(area string) (n int) {
	s.T.Helper()
	for _, a := range testbed.Fsck(s.T, s.Rig.FS).Areas {
		if a.Name == area {
			n += int(a.Checked)
		}
	}
	return n
}

// blamed are the outcomes that are not answers of the sites.
func blamed(r *report.Report) (n int) {
	for name, count := range r.Outcomes {
		if !slices.Contains([]string{"ok", "redirect", "client-error", "name-not-found", "robots-denied"}, name) {
			n += int(count)
		}
	}
	return n
}

// finalLines are the final lines of crawl.log of the URLs whose host ends in a text: outcome and hops, by URL without
// scheme.
func (s *Story) finalLines(host string) map[string]string {
	s.T.Helper()
	lines := map[string]string{}
	_, err := crawllog.Read(s.T.Context(), s.Rig.FS, "crawl/logs", crawllog.Position{}, func(l *crawllog.Line) error {
		url := strings.TrimPrefix(string(l.URL), "http://")
		name, _, _ := strings.Cut(url, "/")
		if l.IsRequeued() {
			delete(lines, url)
		}
		if l.IsFinal() && strings.HasSuffix(name, host) {
			if lines[url] != "" {
				s.Errorf("%s has two final lines", url)
			}
			lines[url] = strings.TrimSpace(string(l.Outcome) + " " + string(l.Hops))
		}
		return nil
	})
	if err != nil {
		s.Fatalf("%v", err)
	}
	return lines
}

// via are the pages of requisites that crawl.log names, by URL without scheme; "" for none. Lines without one
// that were restored after a kill do not count.
func (s *Story) via() map[string]string {
	s.T.Helper()
	pages := map[string]string{}
	_, err := crawllog.Read(s.T.Context(), s.Rig.FS, "crawl/logs", crawllog.Position{}, func(l *crawllog.Line) error {
		if l.Via != nil || !l.Has("restored") {
			pages[strings.TrimPrefix(string(l.URL), "http://")] = string(l.Via)
		}
		return nil
	})
	if err != nil {
		s.Fatalf("%v", err)
	}
	return pages
}

// skipped is how many URLs the crawl lists as left out.
func (s *Story) skipped() (n int) {
	s.T.Helper()
	if err := inspect.EachSkipped(s.Rig.FS, "crawl", func(traps.SkippedURL) error { n++; return nil }); err != nil {
		s.Fatalf("%v", err)
	}
	return n
}

// distinct is how many different URLs without scheme that match a regular expression were asked for.
func (s *Story) distinct(pattern string) int {
	matches, urls := regexp.MustCompile(pattern), map[string]bool{}
	for _, r := range s.requests() {
		if url := strings.TrimPrefix(r.URL, "http://"); matches.MatchString(url) {
			urls[url] = true
		}
	}
	return len(urls)
}

// noise is 200 bytes that depend on a text, as those of an image are.
func noise(text string) string {
	random := rand.New(rand.NewPCG(xxh3.HashString(text), 1))
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00")
	for range 200 {
		b = append(b, byte(random.Uint32()))
	}
	return string(b)
}

// outcomesOf counts final lines by outcome.
func outcomesOf(lines map[string]string) map[string]int64 {
	counts := map[string]int64{}
	for _, line := range lines {
		outcome, _, _ := strings.Cut(line, " ")
		counts[outcome]++
	}
	return counts
}

// lines is the verb "lines": the final lines of crawl.log are those below, each a URL without scheme, its outcome and
// its hops.
func lines(s *Story, _ []string) {
	var all []string
	for url, line := range s.finalLines("") {
		all = append(all, url+" "+line)
	}
	s.compare(all)
}

// reportRows is the verb "rows": KIND COLUMNS. The first columns of a report are those below.
func reportRows(s *Story, words []string) {
	var all []string
	for _, row := range s.rows(words[0]) {
		all = append(all, strings.Join(row[:int(s.number(words[1]))], " "))
	}
	s.compare(all)
}

// compare compares lines, in any order, with those below the line of the story.
func (s *Story) compare(got []string) {
	s.T.Helper()
	for _, l := range s.line.block {
		if i := slices.Index(got, l.text); i >= 0 {
			got = slices.Delete(got, i, i+1)
		} else {
			s.T.Errorf("%s: it is missing: %s", l.place, l.text)
		}
	}
	for _, text := range got {
		s.Errorf("it is not expected: %s", text)
	}
}

// rows are the rows of a report of "orbweaver report".
func (s *Story) rows(kind string) (rows [][]string) {
	s.T.Helper()
	k := logreport.Kind(kind)
	r, err := logreport.Make(s.T.Context(), s.Rig.FS, "crawl", []logreport.Kind{k},
		logreport.Options{Temp: vfs.NewMem(1), TempDir: "t"})
	if err != nil {
		s.Fatalf("%v", err)
	}
	err = r.Each(s.T.Context(), k, func(row []string) error {
		rows = append(rows, slices.Clone(row))
		return nil
	})
	if err = errors.Join(err, r.Close()); err != nil {
		s.Fatalf("%v", err)
	}
	return rows
}
