package story

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/dnsres"
)

// Hosts are a web that a story describes: hosts by name, with rules for their answers. It resolves and dials.
type Hosts struct {
	began  time.Time
	byName map[string]*host
	byAddr map[netip.Addr]*host
	names  []string
	Seeds  []string

	mu       sync.Mutex
	requests []Request
	counts   map[string]int
	last     map[string]time.Time // of the last request to a host
	dials    map[*host]int
	healed   atomic.Bool
	open     sync.WaitGroup
}

// host is a host of a story.
type host struct {
	name  string
	env   map[string]any
	pages int
	addr  netip.Addr
	rules []rule
}

// rule is an answer to some requests.
type rule struct {
	line
	pattern string
	when    *vm.Program // nil for always
	answer  []string
}

// Request is a request as the web saw it. Times are seconds since the story began.
type Request struct {
	URL, Host, Path, Agent string
	Answer                 string // the first word of the answer, or the status
	At, End                float64
}

func newHosts() *Hosts {
	return &Hosts{
		began: time.Now(), byName: map[string]*host{}, byAddr: map[netip.Addr]*host{}, counts: map[string]int{},
		last: map[string]time.Time{}, dials: map[*host]int{},
	}
}

// addHosts is the verb "host": NAME [pages=N] [address=HOST] [seed=PATH|no] [count=N], with a rule in each line below.
func addHosts(s *Story, words []string) {
	if s.Hosts == nil {
		s.Hosts = newHosts()
	}
	a := attributes(words[1:])
	count := 1
	if a["count"] != "" {
		count = int(s.number(a["count"]))
	}
	for h := range count {
		env := s.env()
		env["h"], env["host"] = h, expand(words[0], map[string]any{"h": h})
		one := &host{name: expand(words[0], env), env: env}
		one.pages, _ = strconv.Atoi(expand(a["pages"], env))
		for _, l := range s.line.block {
			one.rules = append(one.rules, s.rule(l, env))
		}
		s.Hosts.add(one, a["address"])
		if seed := a["seed"]; seed != "no" {
			s.Hosts.Seeds = append(s.Hosts.Seeds, "http://"+one.name+"/"+strings.TrimPrefix(seed, "/"))
		}
	}
}

func (w *Hosts) add(one *host, address string) {
	n := len(w.names)
	one.addr = netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)})
	if other := w.byName[address]; other != nil {
		one.addr = other.addr
	} else {
		w.byAddr[one.addr] = one
	}
	w.byName[one.name] = one
	w.names = append(w.names, one.name)
}

// rule reads a rule: PATTERN [when CONDITION] -> ANSWER.
func (s *Story) rule(l line, env map[string]any) rule {
	s.T.Helper()
	head, answer, ok := strings.Cut(l.text, " -> ")
	if !ok {
		s.T.Fatalf("%s: there is no -> in the rule", l.place)
	}
	pattern, condition, _ := strings.Cut(head, " when ")
	r := rule{line: l, pattern: expand(strings.TrimSpace(pattern), env)}
	r.answer = spread(split(answer), env)
	if condition != "" {
		var err error
		typed := requestEnv(env, &call{})
		if r.when, err = expr.Compile(seconds(expand(condition, env)), expr.Env(typed)); err != nil {
			s.T.Fatalf("%s: %v", l.place, err)
		}
	}
	return r
}

// call is a request, or an attempt to connect if it has no path.
type call struct {
	path     string
	isName   bool    // only the name is looked up
	n, dial  int     // earlier requests for the path; earlier connections to the host
	t, pause float64 // seconds since the story began, and since the last request to the host
	healed   bool
}

// requestEnv are the values that a rule may use: path and its first number k, and the fields of call.
func requestEnv(env map[string]any, c *call) map[string]any {
	k := -1
	isDigit := func(r rune) bool { return '0' <= r && r <= '9' }
	if from := strings.IndexFunc(c.path, isDigit); from >= 0 {
		rest := c.path[from:]
		k, _ = strconv.Atoi(rest[:len(rest)-len(strings.TrimLeftFunc(rest, isDigit))])
	}
	all := maps.Clone(env)
	all["path"], all["n"], all["k"], all["t"], all["since"] = c.path, c.n, k, c.t, c.pause
	all["dial"], all["healed"] = c.dial, c.healed
	return all
}

// answer is the answer of a host to a request; nil if no rule has one.
func (w *Hosts) answer(one *host, c *call) []string {
	if len(one.rules) == 0 {
		return nil
	}
	c.t, c.healed = time.Since(w.began).Seconds(), w.healed.Load()
	env := requestEnv(one.env, c)
	for i := range one.rules {
		r := &one.rules[i]
		prefix, isPrefix := strings.CutSuffix(r.pattern, "*")
		if isPrefix && !strings.HasPrefix(c.path, prefix) || !isPrefix && r.pattern != c.path {
			continue
		}
		if isName := r.answer[0] == "no-name" || r.answer[0] == "name-fault"; isName != c.isName && r.answer[0] != "away" {
			continue
		}
		if r.when != nil {
			if is, err := expr.Run(r.when, env); err != nil || is != true {
				continue
			}
		}
		return expandAll(r.answer, env)
	}
	return nil
}

// atAll is what happens in place of a request, by the first word of the answer: no-name, name-fault, refused, timeout,
// unreachable, away, or something else.
func (w *Hosts) atAll(one *host, c call) string {
	if words := w.answer(one, &c); words != nil {
		return words[0]
	}
	return ""
}

// Resolve implements engine.Resolver.
func (w *Hosts) Resolve(_ context.Context, name string) dnsres.Answer {
	one := w.byName[name]
	now := time.Now()
	if one == nil {
		return dnsres.Answer{Err: dnsres.ErrNotFound, Expires: now.Add(time.Minute)}
	}
	switch w.atAll(one, call{isName: true}) {
	case "no-name":
		return dnsres.Answer{Err: dnsres.ErrNotFound, Expires: now.Add(10 * time.Second)}
	case "name-fault", "away":
		return dnsres.Answer{Err: dnsres.ErrServer, Expires: now.Add(10 * time.Second)}
	}
	return dnsres.Answer{Addrs: []netip.Addr{one.addr}, Expires: now.Add(5 * time.Minute)}
}

// Dialer is the dialer of one agent.
func (w *Hosts) Dialer(agent string) Dialer { return Dialer{w, agent} }

// Dialer connects to the hosts of a story.
type Dialer struct {
	hosts *Hosts
	agent string
}

// DialContext implements engine.Dialer.
func (d Dialer) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	w := d.hosts
	if one := w.byAddr[netip.MustParseAddrPort(addr).Addr()]; one != nil {
		w.mu.Lock()
		dial := w.dials[one]
		w.dials[one]++
		w.mu.Unlock()
		began := time.Now()
		is := w.atAll(one, call{dial: dial})
		failure := os.NewSyscallError("connect", syscall.ECONNREFUSED)
		switch is {
		case "timeout":
			<-ctx.Done()
			failure = ctx.Err()
		case "unreachable":
			failure = os.NewSyscallError("connect", syscall.EHOSTUNREACH)
		case "refused", "away":
		default:
			failure = nil
		}
		if failure != nil {
			w.note(&Request{Host: one.name, Agent: d.agent, Answer: is}, began)
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: failure}
		}
	}
	client, server := net.Pipe()
	w.open.Go(func() {
		defer server.Close() //nolint:errcheck // the client may be gone
		r, err := http.ReadRequest(bufio.NewReader(server))
		if err != nil {
			return
		}
		path := r.URL.Path
		if r.URL.RawQuery != "" {
			path += "?" + r.URL.RawQuery
		}
		w.serve(server, w.byName[r.Host], path, d.agent)
	})
	return client, nil
}

// note notes a request or an attempt that has ended, and returns its number.
func (w *Hosts) note(r *Request, began time.Time) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.At, r.End = began.Sub(w.began).Seconds(), time.Since(w.began).Seconds()
	w.requests = append(w.requests, *r)
	return len(w.requests) - 1
}

func (w *Hosts) serve(conn net.Conn, one *host, path, agent string) {
	if one == nil {
		return
	}
	now := time.Now()
	i := w.note(&Request{URL: "http://" + one.name + path, Host: one.name, Path: path, Agent: agent}, now)
	w.mu.Lock()
	key := one.name + path
	c := &call{path: path, n: w.counts[key], pause: now.Sub(w.last[one.name]).Seconds()}
	w.counts[key]++
	w.last[one.name] = now
	w.mu.Unlock()
	words := w.answer(one, c)
	if len(words) == 0 {
		words = one.plain(path)
	}
	respond(conn, words)
	w.mu.Lock()
	w.requests[i].Answer, w.requests[i].End = words[0], time.Since(w.began).Seconds()
	w.mu.Unlock()
}

// plain is the answer of a healthy host: its root links to all its pages, and there is no robots.txt.
func (h *host) plain(path string) []string {
	switch path {
	case "/robots.txt":
		return []string{"404"}
	case "/":
		return []string{"links", strconv.Itoa(h.pages)}
	default:
		return []string{"200", "<p>" + h.name + path}
	}
}

// stream sends a page without a length: so many blocks of so many bytes, with a pause after each.
func stream(conn net.Conn, words []string) {
	blocks, _ := strconv.Atoi(words[0])
	size, _ := strconv.Atoi(words[1])
	pause, _ := time.ParseDuration(words[2])
	fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
	for range blocks {
		if _, err := io.WriteString(conn, strings.Repeat("w", size)); err != nil {
			return
		}
		time.Sleep(pause) //nolint:forbidigo // in virtual time
	}
}

// respond writes an answer: STATUS [Header=value]... [BODY], links N, raw TEXT, silent, reset, or stream BLOCKS BYTES
// PAUSE. With after=TIME it comes later.
func respond(conn net.Conn, words []string) {
	head, body, media := "", "", "text/html"
	rest := words[1:]
	for i, word := range rest {
		name, value, isHeader := strings.Cut(word, "=")
		switch {
		case name == "after":
			d, _ := time.ParseDuration(value)
			time.Sleep(d) //nolint:forbidigo // in virtual time
		case name == "Content-Type":
			media = value
		case isHeader && regexp.MustCompile(`^[A-Za-z][A-Za-z-]*$`).MatchString(name):
			head += name + ": " + value + "\r\n"
		case i == len(rest)-1:
			body = word
		}
	}
	switch words[0] {
	case "reset":
	case "raw":
		_, _ = io.WriteString(conn, body)
	case "silent":
		_, _ = io.Copy(io.Discard, conn) // until the client closes it
	case "stream":
		stream(conn, rest)
	case "links":
		n, _ := strconv.Atoi(body)
		testbed.Respond(conn, 200, head, testbed.LinksPage(n))
	default:
		status, _ := strconv.Atoi(words[0])
		fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n%s", status,
			http.StatusText(status), media, len(body), head, body)
	}
}

// Requests are the requests so far, in order.
func (w *Hosts) Requests() []Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.requests)
}

// served is how many different pages were answered with status 200, and how many of them more than once. Root pages may
// be: the root page of a failing site is fetched again, as a probe.
func (w *Hosts) served() (pages, repeated int) {
	times := map[string]int{}
	for _, r := range w.Requests() {
		if r.Path != "/robots.txt" && (r.Answer == "200" || r.Answer == "links") {
			if times[r.URL]++; times[r.URL] == 2 && r.Path != "/" {
				repeated++
			}
		}
	}
	return len(times), repeated
}
