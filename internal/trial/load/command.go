package load

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"orbweaver/derive/quality"
	"orbweaver/internal/cputime"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/simweb/origin"
	"orbweaver/internal/trial/visits"
)

// SimOptions is what `orbweaver sim` is told.
type SimOptions struct {
	World  simweb.Config
	Guests simweb.Guests // serve hosts of their own beside the world's
	Listen Options       // its Log is ignored: there is always one
	Seeds  int           // how many seeds; 0 means 100
	// More are seeds beside those of the world: the guest's.
	More []string
	// SeedsFile is written with one URL a line before Ready is called; "" writes none.
	SeedsFile string
	// LogFile is written with one line of JSON for each arrival, as they come; "" writes none.
	LogFile string
	JSON    bool // stdout is JSON: one object at the start, one at the end
	// Archive, if not nil, is called at the end for what the crawl that was served has stored, to be judged by Promise.
	// Without it the verdict is what the server alone can say: of all that can be reached if Complete, else partial.
	Archive func() (judge.Crawled, error)
	// Complete says that a crawl without Archive was meant to end: what it never asked for is missing.
	Complete bool
	Promise  judge.Promise
	// Ready, if not nil, is called when everything listens.
	Ready func(*Server)
}

// Addresses is what RunCommand prints at its start.
type Addresses struct {
	Proxy string   `json:"proxy,omitempty"`
	More  []string `json:"more,omitempty"` // further addresses of the proxy
	HTTP  string   `json:"http,omitempty"`
	TLS   string   `json:"tls,omitempty"`
	DNS   string   `json:"dns,omitempty"`
	Seeds string   `json:"seeds,omitempty"`
	Root  []byte   `json:"root,omitempty"` // the certificate to trust, DER; if there are hosts inside TLS
	Hosts int      `json:"hosts"`
	IPs   int      `json:"ips"`
	Pages int64    `json:"pages"`

	// OfSeparate and Unlinked are parts of Pages: in components that only seeds of their own lead to, and without a link
	// to them.
	OfSeparate int `json:"pages_of_separate_components,omitempty"`
	Unlinked   int `json:"pages_unlinked,omitempty"`
	Drawn      int `json:"hosts_drawn,omitempty"` // hosts whose pages a browser must draw
}

// Summary is what RunCommand prints at its end.
type Summary struct {
	Stats   Stats          `json:"stats"`
	Wall    float64        `json:"wall_seconds"`
	CPU     float64        `json:"cpu_seconds"` // of the whole process
	Verdict *judge.Verdict `json:"verdict,omitempty"`
	// Quality is the order of requests, of a crawl that is not partial. Its pages are all that the seeds reach.
	Quality *quality.Report `json:"quality,omitempty"`
}

// RunCommand serves a world until ctx ends, and then prints what was requested. Results go to stdout, messages to
// stderr.
func RunCommand(ctx context.Context, o SimOptions, stdout, stderr io.Writer) error {
	w, err := origin.New(o.World)
	if err != nil {
		return err
	}
	for _, g := range o.Guests {
		w.Invite(g)
	}
	if o.Seeds == 0 {
		o.Seeds = 100
	}
	if o.SeedsFile != "" {
		if err = writeSeeds(o.SeedsFile, slices.Concat(w.Seeds(o.Seeds), o.More)); err != nil {
			return err
		}
	}
	log := w.NewLog()
	o.Listen.Log = log
	file, err := createLog(log, o.LogFile)
	if err != nil {
		return err
	}
	begin := time.Now()
	s, err := Start(ctx, w, o.Listen)
	if err != nil {
		return errors.Join(err, file.close())
	}
	if err = announce(stdout, s, w, &o); err == nil {
		if o.Ready != nil {
			o.Ready(s)
		}
		fmt.Fprintln(stderr, "serving; interrupt to stop")
		err = file.follow(ctx)
	}
	err = errors.Join(err, s.Close(), file.close()) // the last arrivals come while the server closes
	if err != nil {
		return err
	}
	sum := Summary{Stats: s.Stats(), Wall: time.Since(begin).Seconds(), CPU: cputime.Process().Seconds()}
	if log.Len() > 0 {
		if sum.Verdict, err = judgeLog(w, log, &o); err != nil {
			return err
		}
		if !o.Promise.Partial {
			sum.Quality, err = visits.Measure(context.WithoutCancel(ctx), w, log, w.Seeds(o.Seeds))
		}
		if err != nil {
			return err
		}
	}
	return report(stdout, &sum, o.JSON)
}

func writeSeeds(name string, seeds []string) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("load: seeds: %w", err)
	}
	b := bufio.NewWriter(f)
	for _, u := range seeds {
		_, _ = b.WriteString(u) // Flush returns the first error
		_ = b.WriteByte('\n')
	}
	if err = errors.Join(b.Flush(), f.Close()); err != nil {
		return fmt.Errorf("load: seeds: %w", err)
	}
	return nil
}

// announce prints where the world can be reached.
func announce(stdout io.Writer, s *Server, w *origin.Web, o *SimOptions) error {
	a := Addresses{Seeds: o.SeedsFile, Hosts: w.Hosts(), IPs: w.Config().IPs, Pages: w.PagesTotal()}
	a.OfSeparate, a.Unlinked = w.HiddenPages()
	a.Drawn = w.DrawnHosts()
	if p := s.ProxyAddr(); p.IsValid() {
		a.Proxy = "http://" + p.String()
	}
	for _, p := range s.MoreAddrs() {
		a.More = append(a.More, "http://"+p.String())
	}
	if p := s.HTTPAddr(); p.IsValid() {
		a.HTTP = p.String()
	}
	if p := s.TLSAddr(); p.IsValid() {
		a.TLS = p.String()
	}
	if p := s.DNSAddr(); p.IsValid() {
		a.DNS = p.String()
	}
	if o.JSON {
		if w.Config().HTTPSShare > 0 {
			a.Root = s.Root().Raw
		}
		return json.NewEncoder(stdout).Encode(a)
	}
	_, err := fmt.Fprintf(stdout, "world  %d hosts, %d addresses, about %d pages\n", a.Hosts, a.IPs, a.Pages)
	if a.OfSeparate+a.Unlinked > 0 && err == nil {
		_, err = fmt.Fprintf(stdout, "hidden %.1f %% of the pages in %d separate components, %.1f %% that no page links to\n",
			100*float64(a.OfSeparate)/float64(a.Pages), w.Config().Separate, 100*float64(a.Unlinked)/float64(a.Pages))
	}
	if a.Drawn > 0 && err == nil {
		_, err = fmt.Fprintf(stdout, "drawn  %d hosts whose pages a browser must draw\n", a.Drawn)
	}
	for _, l := range [][2]string{
		{"proxy", strings.Join(append([]string{a.Proxy}, a.More...), " ")}, {"http", a.HTTP}, {"tls", a.TLS}, {"dns", a.DNS},
		{"seeds", a.Seeds},
	} {
		if l[1] != "" && err == nil {
			_, err = fmt.Fprintf(stdout, "%-6s %s\n", l[0], l[1])
		}
	}
	return err
}

// logFile is where the log is written as it grows; with no file nothing is.
type logFile struct {
	log  *arrivals.Log
	f    *os.File
	next int // number of the first arrival not written
}

func createLog(log *arrivals.Log, name string) (*logFile, error) {
	l := &logFile{log: log}
	if name == "" {
		return l, nil
	}
	var err error
	if l.f, err = os.Create(name); err != nil {
		return nil, fmt.Errorf("load: log: %w", err)
	}
	return l, nil
}

// follow writes the log every second until ctx ends.
func (l *logFile) follow(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := l.write(); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (l *logFile) write() (err error) {
	if l.f != nil {
		l.next, err = l.log.Write(l.f, l.next)
	}
	return err
}

func (l *logFile) close() error {
	if l.f == nil {
		return nil
	}
	return errors.Join(l.write(), l.f.Close())
}

// judgeLog asks the oracle.
func judgeLog(w *origin.Web, log *arrivals.Log, o *SimOptions) (*judge.Verdict, error) {
	p := o.Promise
	if p.Expect.Seeds == nil {
		p.Expect.Seeds = w.Seeds(o.Seeds)
	}
	var crawled judge.Crawled
	if o.Archive == nil {
		p.Partial = !o.Complete
	} else {
		var err error
		if crawled, err = o.Archive(); err != nil {
			return nil, err
		}
	}
	v := w.Judge(log, p, crawled)
	return &v, nil
}

func report(stdout io.Writer, sum *Summary, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(stdout).Encode(sum)
	}
	rate := 0.0
	if sum.Stats.Requests > 0 {
		rate = sum.CPU * 1e6 / float64(sum.Stats.Requests)
	}
	_, err := fmt.Fprintf(
		stdout,
		"served %d requests on %d connections, %d bytes, %d DNS questions in %.1f s; %.1f us of CPU each\n",
		sum.Stats.Requests,
		sum.Stats.Conns,
		sum.Stats.Bytes,
		sum.Stats.Queries,
		sum.Wall,
		rate,
	)
	if sum.Verdict != nil {
		sum.Verdict.Print(stdout)
	}
	if sum.Quality != nil && err == nil {
		fmt.Fprintln(stdout, "\norder of requests, compared with others of all pages that the seeds reach")
		err = sum.Quality.Print(stdout)
	}
	return err
}
