package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// state is where an agent is between its first start and its end.
type state uint8

const (
	absent  state = iota // not yet started
	running              // a process
	dying                // killed; the process has not ended yet
	down                 // killed; it comes back
	leaving              // asked to stop
	left                 // stopped in good order
	lost                 // killed, its directory deleted
	done                 // ended by itself: the crawl is over
)

func (s state) String() string {
	return [...]string{
		"not yet started", "running", "being killed", "down", "leaving", "gone in good order", "lost with its disk", "done",
	}[s]
}

// live says that there is a process.
func (s state) live() bool { return s == running || s == dying || s == leaving }

// agent is one member of a fleet, through all its lives.
type agent struct {
	id       string
	capacity int
	dir      string                           // its crawl directory
	output   string                           // file of what it says
	enter    func(command ...string) []string // what runs a command where the agent lives; nil for here
	gossip   string
	post     string
	proxy    string // of the web: one for each agent, since each address has so many ports only

	state state
	cmd   *exec.Cmd // of the life under way or the last one
	back  time.Time // when it is started again, if it is down
	cpu   time.Duration
	lives int
}

// exit is the end of a process.
type exit struct {
	a   *agent
	err error // of Wait
}

// start begins a life: exits hears of its end.
func (a *agent) start(ctx context.Context, program string, args []string, exits chan<- exit) error {
	words, err := os.OpenFile(a.output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("agents: %w", err)
	}
	argv := append([]string{program}, args...)
	if a.enter != nil {
		argv = a.enter(argv...)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = words, words
	err = cmd.Start()
	_ = words.Close() // the child has its own
	if err != nil {
		return fmt.Errorf("agents: %s does not start: %w", a.id, err)
	}
	a.cmd, a.state = cmd, running
	a.lives++
	go func() { exits <- exit{a, cmd.Wait()} }()
	return nil
}

// kill ends the process at once. That it has ended by itself meanwhile is told by its exit.
func (a *agent) kill() error {
	if err := a.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("agents: kill %s: %w", a.id, err)
	}
	return nil
}

// lastOutput is the end of what the agent has said.
func (a *agent) lastOutput() string {
	const most = 2000
	f, err := os.Open(a.output)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err.Error()
	}
	b, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-most), most))
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b))
}

// AgentReport is what is read of an agent's report.json.
type AgentReport struct {
	State          string  `json:"state"`
	Reason         string  `json:"reason"`
	Waiting        string  `json:"waiting"`
	PagesStored    int64   `json:"pages_stored"`
	RevisitsStored int64   `json:"revisits_stored"`
	URLsQueued     int64   `json:"urls_queued"`
	URLsInFlight   int64   `json:"urls_in_flight"`
	BytesReceived  int64   `json:"bytes_received"`
	BytesStored    int64   `json:"bytes_stored"`
	HostsKnown     int64   `json:"hosts_known"`
	CPUSeconds     float64 `json:"cpu_seconds"`
	RSSPeakBytes   int64   `json:"rss_peak_bytes"`
	Resumed        int     `json:"resumed"`
	Peers          Peers   `json:"cluster"`
}

// Peers is what an agent reports about its messages; all zero for a crawl with one agent.
type Peers struct {
	LinksSent     int64 `json:"links_sent"` // the e of the papers
	LinksReceived int64 `json:"links_received"`
	MessagesSent  int64 `json:"messages_sent"`
	BytesSent     int64 `json:"bytes_sent"`
	Questions     int64 `json:"recovery_requests"`   // questions of the last life after pages that others may have
	Unanswered    int64 `json:"recovery_unanswered"` // of these
	Recovered     int64 `json:"urls_recovered"`      // pages that others had
	HandedOver    int64 `json:"urls_handed_over"`    // URLs
}

func (p *Peers) add(q Peers) {
	p.LinksSent += q.LinksSent
	p.LinksReceived += q.LinksReceived
	p.MessagesSent += q.MessagesSent
	p.BytesSent += q.BytesSent
	p.Questions += q.Questions
	p.Unanswered += q.Unanswered
	p.Recovered += q.Recovered
	p.HandedOver += q.HandedOver
}

// pages is how many the agent has.
func (t *AgentReport) pages() int64 { return t.PagesStored + t.RevisitsStored }

// readReport reads the report; it is empty while there is none.
func (a *agent) readReport() (t AgentReport, err error) {
	b, err := os.ReadFile(filepath.Join(a.dir, "report.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err != nil {
		return t, fmt.Errorf("agents: what %s reports: %w", a.id, err)
	}
	return t, nil
}

// describe says in one line how the agent is.
func (a *agent) describe() string {
	t, err := a.readReport()
	switch {
	case err != nil:
		return fmt.Sprintf("%s is %v: %v", a.id, a.state, err)
	case t.State == "":
		return fmt.Sprintf("%s is %v, and has reported nothing; its words: %s", a.id, a.state, a.output)
	}
	return fmt.Sprintf(
		"%s is %v: reported %s, %s; %d pages, %d URLs queued, %d in flight; waits for: %s; its words: %s", a.id,
		a.state, t.State, strconv.Quote(t.Reason), t.pages(), t.URLsQueued, t.URLsInFlight, t.Waiting, a.output)
}
