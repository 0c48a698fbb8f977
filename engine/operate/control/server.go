package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/operate/changes"
	"orbweaver/engine/operate/control/dashboard"
	"orbweaver/engine/operate/feed"
	"orbweaver/engine/operate/history"
	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
	"orbweaver/warc/lookup"
)

// Crawl is what can be done to a running crawl; operator.Operator does it.
type Crawl interface {
	Report() report.Report
	Pause() bool
	Resume() bool
	Stop()
	Leave(ctx context.Context) error
	AddURLs(ctx context.Context, urls iter.Seq[string]) (admission.Added, error)
	HostRule(rules []string) (taken int, err error)
	HostRules() (live, fixed []string)
	ListSettings() changes.List
	ChangeSettings(ctx context.Context, r changes.Request) (changes.Result, error)
	UndoSettings(ctx context.Context, r changes.Request) (changes.Result, error)
	// AnswerQuestion answers with something that has a form in JSON: see operator.Operator.
	AnswerQuestion(ctx context.Context, question string, values map[string][]string) (any, error)
}

// Options says where a Server listens, and which requests it answers.
type Options struct {
	Socket  string       // "unix:PATH" in the crawl directory: see SocketOf; "" for none
	Address string       // "unix:PATH" or host:port, beside Socket; "" for none
	Token   string       // what requests must bring on host:port; a Unix socket needs none
	Names   []string     // further names of the server on host:port, as a reverse proxy sends them
	Log     *slog.Logger // gets what was done; nil for no log
	History HistoryFile  // keeps the numbers of the crawl over restarts
	// Captures are the index lines of the archive; nil for none.
	Captures lookup.Lines
	Feed     feed.Source // what is new, changed or gone in the archive; nil for nothing

	// Reload has this agent read its file again, and says what it has read; nil if the crawl has no other agents.
	Reload func() (said string, err error)
}

// HistoryFile names the file of the history; the zero value is none.
type HistoryFile struct {
	FS    vfs.FS
	Name  string
	Crawl string // the directory of the crawl, for people
}

// connsMax is how many connections there are at once; they and one that waits take a descriptor each.
const connsMax = 32

// answerMax is how long a client may take to read an answer.
const answerMax = 30 * time.Second

// Server answers an operator. Make it with Listen.
type Server struct {
	ports   []*port
	end     context.CancelFunc // of all requests
	answers sync.WaitGroup     // and the recorder of the history
}

// port is one place where a Server listens.
type port struct {
	http     *http.Server
	listener net.Listener
	served   chan error
}

// Listen serves crawl until Close, and has all requests end with ctx. An error may wrap ErrNoToken.
func Listen(ctx context.Context, o Options, crawl Crawl) (*Server, error) {
	o = o.withDefaults()
	recorder := history.Open(history.Options{
		FS: o.History.FS, File: o.History.Name, Report: crawl.Report, Log: o.Log, Name: o.History.Crawl,
	})
	answers := withCaptures(o, withFeed(o, dashboard.NewReuse(newHandler(crawl, o, dashboard.NewLive(recorder)))))
	return serve(ctx, o, dashboard.IsToken(o.Token), answers, recorder.Run)
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Captures == nil {
		o.Captures = noCaptures{}
	}
	if o.Feed == nil {
		o.Feed = noFeed{}
	}
	return o
}

// serve has permitted requests answered until Close, and runs beside that what ends with it. login says whether a code
// of the login page is right.
func serve(
	ctx context.Context,
	o Options,
	login func(code string) bool,
	answers http.Handler,
	beside func(context.Context),
) (*Server, error) {
	ctx, end := context.WithCancel(ctx)
	s := &Server{end: end}
	for _, address := range []string{o.Socket, o.Address} {
		if address == "" || s.isAt(address) {
			continue
		}
		switch err := s.open(ctx, address, o, login, answers); {
		case err == nil:
		case address == o.Socket && o.Address != "": // a file system without sockets
			o.Log.Warn("control: the socket in the crawl directory cannot be made: ctl and doctor need --address",
				"socket", address, "address", o.Address, "error", err)
		default:
			return nil, errors.Join(fmt.Errorf("control: %w", err), s.Close())
		}
	}
	s.answers.Go(func() { beside(ctx) })
	return s, nil
}

// open answers permitted requests at one more address.
func (s *Server) open(
	ctx context.Context, address string, o Options, login func(code string) bool, answers http.Handler,
) error {
	l, err := listen(ctx, address)
	if err != nil {
		return err
	}
	d, err := newAccess(l, o, login)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	p := &port{listener: l, served: make(chan error, 1)}
	p.http = &http.Server{
		Handler: s.counted(d.guard(answers)), BaseContext: func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: bodyPatience, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn), ConnContext: withConn, ConnState: onState,
	}
	s.ports = append(s.ports, p)
	go func() { p.served <- p.http.Serve(limitConns(l, connsMax, o.Log)) }()
	return nil
}

// isAt reports whether the Server has the socket of an address already, maybe by another path.
func (s *Server) isAt(address string) bool {
	path, unix := strings.CutPrefix(address, "unix:")
	return unix && slices.ContainsFunc(s.ports, func(p *port) bool {
		return isSameSocket(p.listener.Addr().String(), path)
	})
}

// Probe returns why Listen would fail for an address and a token, as far as that can be known before there is a crawl.
func Probe(ctx context.Context, address, token string) error {
	l, err := listen(ctx, address)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	if _, tcp := l.Addr().(*net.TCPAddr); tcp && token == "" {
		err = ErrNoToken
	}
	return errors.Join(err, l.Close())
}

// Addr is where the server listens: Options.Address, if there is one.
func (s *Server) Addr() string { return s.ports[len(s.ports)-1].listener.Addr().String() }

// Close ends all connections and waits for the server's goroutines.
func (s *Server) Close() (err error) {
	s.end()
	for _, p := range s.ports {
		err = errors.Join(err, p.http.Close())
		if serr := <-p.served; !errors.Is(serr, http.ErrServerClosed) {
			err = errors.Join(err, serr)
		}
	}
	s.answers.Wait()
	return err
}

// counted lets Close wait for answers under way.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.answers.Add(1)
		defer s.answers.Done()
		next.ServeHTTP(w, r)
	})
}

// handler answers each request, whatever its client.
type handler struct {
	crawl  Crawl
	log    *slog.Logger
	reload func() (string, error)
	turn   sync.Mutex // what changes the crawl at once is done, and said, one after the other
}

func newHandler(crawl Crawl, o Options, live *dashboard.Live) http.Handler {
	h := &handler{crawl: crawl, log: o.Log, reload: o.Reload}
	mux := http.NewServeMux()
	registry := prometheus.NewRegistry()
	registry.MustRegister(newCollector(crawl), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, Status{crawl.Report(), live.Estimate()})
	})
	mux.HandleFunc("GET /now", live.Now)
	mux.HandleFunc("GET /events", live.Events)
	mux.HandleFunc("GET /history", live.History)
	mux.HandleFunc("GET /hosts", h.answerQuestion("hosts"))
	mux.HandleFunc("GET /queue", h.answerQuestion("queue"))
	mux.HandleFunc("GET /seeds", h.answerQuestion("seeds"))
	mux.HandleFunc("GET /active", h.answerQuestion("active"))
	mux.HandleFunc("GET /failures", h.answerQuestion("failures"))
	mux.HandleFunc("GET /domains", h.answerQuestion("domains"))
	mux.HandleFunc("GET /doctor", h.answerQuestion("doctor"))
	mux.HandleFunc("GET /match", h.answerQuestion("match"))
	mux.HandleFunc("GET /explain", h.answerQuestion("explain"))
	mux.HandleFunc("GET /settings", func(w http.ResponseWriter, _ *http.Request) { answer(w, crawl.ListSettings()) })
	mux.HandleFunc("GET /rules", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, HostRulesOf(crawl.HostRules()))
	})
	mux.HandleFunc("POST /pause",
		h.act(func() (string, bool) { return choose(crawl.Pause(), "paused", "the crawl is paused already") }))
	mux.HandleFunc("POST /resume",
		h.act(func() (string, bool) { return choose(crawl.Resume(), "resumed", "the crawl is not paused") }))
	mux.HandleFunc("POST /stop", h.act(func() (string, bool) { return stop(crawl), true }))
	mux.HandleFunc("POST /leave", h.leave)
	mux.HandleFunc("POST /reload", h.readAgain)
	b := newBodies()
	mux.HandleFunc("POST /add", b.take(addMax, h.add))
	mux.HandleFunc("POST /block", b.take(rulesMax, h.hostRule(" exclude")))
	mux.HandleFunc("POST /rule", b.take(rulesMax, h.hostRule("")))
	mux.HandleFunc("POST /set", b.take(rulesMax, h.set))
	mux.HandleFunc("POST /undo", h.undo)
	return mux
}

// act answers what f did, and tells the log if it changed anything.
func (h *handler) act(f func() (said string, changed bool)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer(w, Reply{Message: h.doInTurn(f)})
	}
}

// doInTurn calls f while no other action runs, and tells the log if it changed anything.
func (h *handler) doInTurn(f func() (said string, changed bool)) string {
	h.turn.Lock()
	defer h.turn.Unlock() // net/http recovers from a panic of f
	said, changed := f()
	if changed {
		h.log.Info("by the operator: " + said)
	}
	return said
}

// answerQuestion answers a question about the crawl.
func (h *handler) answerQuestion(question string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		said, err := h.crawl.AnswerQuestion(r.Context(), question, r.URL.Query())
		if err != nil {
			refuse(w, err)
			return
		}
		answer(w, said)
	}
}

// leave ends the part of one of several agents, if it can. It asks the other agents, so it holds up no other change.
func (h *handler) leave(w http.ResponseWriter, r *http.Request) {
	if err := h.crawl.Leave(r.Context()); err != nil {
		refuse(w, err)
		return
	}
	said := "leaving permanently: its hosts are given to the other agents"
	h.log.Info("by the operator: " + said)
	answer(w, Reply{Message: said})
}

// errNoReload says that nothing can be read again.
var errNoReload = errors.New("control: this crawl has no file of an agent")

// readAgain has the agent's file read again.
func (h *handler) readAgain(w http.ResponseWriter, _ *http.Request) {
	h.turn.Lock()
	defer h.turn.Unlock()
	if h.reload == nil {
		refuse(w, errNoReload)
		return
	}
	said, err := h.reload()
	if err != nil {
		refuse(w, err)
		return
	}
	h.log.Info("by the operator: the agent's file was read again", "said", said)
	answer(w, Reply{Message: said})
}

// add offers URLs as they come: the crawl takes them no faster than it has room for, and so does the socket.
func (h *handler) add(w http.ResponseWriter, r *http.Request, in *text) {
	added, err := h.crawl.AddURLs(r.Context(), in.each())
	if taken := added.New + added.Known + added.Sent; taken > 0 {
		h.log.Info("by the operator: URLs added", "new", added.New, "known", added.Known, "refused", added.Refused)
	}
	said, status := Reply{Message: AddedMessage(&added), Added: added}, http.StatusOK
	if all := errors.Join(in.err, err, added.RefusedError()); all != nil {
		said.Error, status = shortened(all), statusOf(all)
	}
	if err != nil {
		status = http.StatusInternalServerError
	}
	answerWith(w, status, said)
}

// stop stops the crawl, and says for what it waits before.
func stop(crawl Crawl) string {
	crawl.Stop()
	n := crawl.Report().ActiveFetches
	if n == 0 {
		return "stopping"
	}
	return fmt.Sprintf("stopping: %s under way %s first, for %v at most", plural.Count(n, "exchange"),
		plural.Verb(n, "ends", "end"), lifecycle.DrainMax)
}

// AddedMessage says what became of URLs that were added.
func AddedMessage(a *admission.Added) string {
	said := fmt.Sprintf("%s: %d new, %d known, %d refused", plural.Count(a.Count(), "URL"), a.New, a.Known, a.Refused)
	if a.Sent > 0 {
		said += fmt.Sprintf(", %d sent to the agents that own their hosts", a.Sent)
	}
	return said
}

// hostRule takes rules of single hosts, one a line, each with what it is to end in.
func (h *handler) hostRule(end string) func(http.ResponseWriter, *http.Request, *text) {
	return func(w http.ResponseWriter, r *http.Request, in *text) {
		rules, err := in.all()
		if err != nil {
			refuse(w, err)
			return
		}
		for i := range rules {
			rules[i] += end
		}
		concerns := h.matching(r.Context(), rules)
		taken, err := h.crawl.HostRule(rules)
		said := fmt.Sprintf("%d of %s saved", taken, plural.Count(len(rules), "host rule"))
		if taken == len(rules) {
			said += concerns
		}
		reply(w, said, err)
	}
}

// matching says which sites host rules are for, before they are given; "" if that is not known.
func (h *handler) matching(ctx context.Context, rules []string) string {
	const most = 100 // each rule reads all sites
	var sites, queued uint64
	for _, rule := range rules[:min(len(rules), most)] {
		answer, err := h.crawl.AnswerQuestion(ctx, "match", map[string][]string{"rule": {rule}})
		m, ok := answer.(hosts.Match)
		if err != nil || !ok {
			return ""
		}
		sites, queued = sites+uint64(m.Sites), queued+m.Queued
	}
	if len(rules) > most {
		return ""
	}
	return fmt.Sprintf(", for %s with %s", plural.Count(sites, "known site"), plural.Count(queued, "queued URL"))
}

// HostRules are the rules of single hosts of a running crawl.
type HostRules struct {
	Live  []string `json:"live"`  // given while it ran; they win over others that are as narrow
	Fixed []string `json:"fixed"` // of the file of --host-rules
	More  int      `json:"more"`  // of that file, not listed
}

// fixedTold is how many rules of the file are listed.
const fixedTold = 10_000

// HostRulesOf returns rules as they are listed.
func HostRulesOf(live, fixed []string) HostRules {
	h := HostRules{Live: append([]string{}, live...), Fixed: append([]string{}, fixed...)}
	if h.More = max(0, len(h.Fixed)-fixedTold); h.More > 0 {
		h.Fixed = h.Fixed[:fixedTold]
	}
	return h
}

// Reply is what an action answers.
type Reply struct {
	Message string          `json:"message"`
	Error   string          `json:"error,omitempty"`
	Added   admission.Added `json:"added,omitzero"`  // of add
	Change  changes.Result  `json:"change,omitzero"` // of set and undo
}

// errorMax is how much is said of what went wrong, in bytes: a body may hold very many mistakes.
const errorMax = 16 << 10

func reply(w http.ResponseWriter, message string, err error) {
	if err == nil {
		answer(w, Reply{Message: message})
		return
	}
	answerWith(w, statusOf(err), Reply{Message: message, Error: shortened(err)})
}

// shortened is the text of an error, up to errorMax.
func shortened(err error) string {
	said := err.Error()
	if len(said) > errorMax {
		said = said[:errorMax] + "... and more"
	}
	return said
}

func refuse(w http.ResponseWriter, err error) { reply(w, "", err) }

func answer(w http.ResponseWriter, v any) { answerWith(w, http.StatusOK, v) }

func answerWith(w http.ResponseWriter, status int, v any) {
	_ = http.NewResponseController(w).
		SetWriteDeadline(time.Now().Add(answerMax))
		// without a connection no client is slow
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func choose(ok bool, yes, no string) (string, bool) {
	if ok {
		return yes, true
	}
	return no, false
}
