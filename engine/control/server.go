package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"orbweaver/engine"
)

// Crawl is what can be done to a running crawl; engine.Engine does it.
type Crawl interface {
	Report() engine.Report
	Pause() bool
	Resume() bool
	Stop()
	AddURLs(ctx context.Context, urls []string) (int, error)
	HostRule(rules []string) (taken int, err error)
	HostRules() (live, fixed []string)
	Set(key, value string) error
}

// bodyMax bounds what one request may bring.
const bodyMax = 64 << 20

// lineMax bounds one line of it.
const lineMax = 1 << 20

// Server answers an operator. Make it with Listen.
type Server struct {
	http     *http.Server
	listener net.Listener
	served   chan error
}

// Listen serves crawl on address: "unix:PATH" or host:port.
func Listen(address string, crawl Crawl) (*Server, error) {
	l, err := listen(address)
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	s := &Server{
		http:     &http.Server{Handler: Handler(crawl), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute},
		listener: l, served: make(chan error, 1),
	}
	go func() { s.served <- s.http.Serve(l) }()
	return s, nil
}

// Addr is where the server listens.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close ends all connections and waits for the server's goroutine.
func (s *Server) Close() error {
	err := s.http.Close()
	if serr := <-s.served; !errors.Is(serr, http.ErrServerClosed) {
		err = errors.Join(err, serr)
	}
	return err
}

// Handler is the HTTP side alone.
func Handler(crawl Crawl) http.Handler {
	mux := http.NewServeMux()
	registry := prometheus.NewRegistry()
	registry.MustRegister(newCollector(crawl), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { answer(w, crawl.Report()) })
	act := func(path string, f func() string) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, _ *http.Request) { answer(w, Reply{Message: f()}) })
	}
	act("/pause", func() string { return choose(crawl.Pause(), "paused", "was paused already") })
	act("/resume", func() string { return choose(crawl.Resume(), "goes on", "was not paused") })
	act("/stop", func() string { crawl.Stop(); return "stopping" })
	mux.HandleFunc("POST /add", func(w http.ResponseWriter, r *http.Request) {
		urls, err := lines(r.Body)
		if err != nil {
			refuse(w, err)
			return
		}
		n, err := crawl.AddURLs(r.Context(), urls)
		reply(w, fmt.Sprintf("%d of %d URLs offered at the door", n, len(urls)), err)
	})
	mux.HandleFunc("POST /block", hostRule(crawl, " exclude"))
	mux.HandleFunc("POST /rule", hostRule(crawl, ""))
	mux.HandleFunc("GET /rules", func(w http.ResponseWriter, _ *http.Request) { answer(w, rulesOf(crawl)) })
	mux.HandleFunc("POST /set", func(w http.ResponseWriter, r *http.Request) {
		settings, err := lines(r.Body)
		if err != nil {
			refuse(w, err)
			return
		}
		for _, s := range settings {
			key, value, _ := strings.Cut(s, "=")
			err = errors.Join(err, crawl.Set(strings.TrimSpace(key), strings.TrimSpace(value)))
		}
		reply(w, "set", err)
	})
	return sameOrigin(http.MaxBytesHandler(mux, bodyMax))
}

// hostRule takes rules of single hosts, one a line, each with what it is to end in.
func hostRule(crawl Crawl, end string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		rules, err := lines(r.Body)
		if err != nil {
			refuse(w, err)
			return
		}
		for i := range rules {
			rules[i] += end
		}
		taken, err := crawl.HostRule(rules)
		reply(w, fmt.Sprintf("%d of %d host rules taken", taken, len(rules)), err)
	}
}

// HostRules are the rules of single hosts of a running crawl.
type HostRules struct {
	Live  []string `json:"live"`  // given while it ran; they win over others that are as narrow
	Fixed []string `json:"fixed"` // of the file of --host-rules
	More  int      `json:"more"`  // of that file, not listed
}

// fixedTold is how many rules of the file are listed.
const fixedTold = 10_000

func rulesOf(crawl Crawl) (h HostRules) {
	h.Live, h.Fixed = crawl.HostRules()
	if h.More = max(0, len(h.Fixed)-fixedTold); h.More > 0 {
		h.Fixed = h.Fixed[:fixedTold]
	}
	return h
}

// sameOrigin refuses what a browser sends on behalf of a page.
func sameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" {
			http.Error(w, "requests from web pages are not answered", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Reply is what an action answers.
type Reply struct {
	Message string `json:"message"`
	Error   string `json:"error,omitempty"`
}

func reply(w http.ResponseWriter, message string, err error) {
	if err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(Reply{Message: message, Error: err.Error()}) // the client may be gone
		return
	}
	answer(w, Reply{Message: message})
}

func refuse(w http.ResponseWriter, err error) { reply(w, "", err) }

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func choose(ok bool, yes, no string) string {
	if ok {
		return yes
	}
	return no
}

// lines reads non-empty lines, without comments.
func lines(r io.Reader) ([]string, error) {
	var out []string
	in := bufio.NewScanner(r)
	in.Buffer(nil, lineMax)
	for in.Scan() {
		if line := strings.TrimSpace(in.Text()); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	return out, nil
}
