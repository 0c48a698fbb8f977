package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"orbweaver/engine/operate/history"
	"orbweaver/engine/operate/report"
)

// ErrNotRunning says that no process answers for the crawl directory.
var ErrNotRunning = errors.New("control: no crawl is running there")

// ErrDenied says that another user may not connect to the socket.
var ErrDenied = errors.New("control: the socket of the crawl is for its owner alone")

// Client talks to one crawl.
type Client struct {
	http  *http.Client
	base  string
	name  string
	token string
}

// answerSize bounds what is read of an answer, in bytes.
const answerSize = 64 << 20

// ErrToken says that the crawl wants a token that it was not given.
var ErrToken = errors.New("control: the crawl wants its token")

// Dial makes a Client for "unix:PATH" or host:port, which brings the token unless that is "". It connects at the first
// call.
func Dial(address, token string) *Client {
	c := &Client{name: address, base: "http://" + address, token: token}
	transport := &http.Transport{DisableKeepAlives: true}
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		c.base = "http://crawl"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dialUnix(ctx, path) }
	}
	c.http = &http.Client{Transport: transport}
	return c
}

// Status is the report of a crawl, and when its queue would be empty.
type Status struct {
	report.Report
	Estimate *history.Estimate `json:"end,omitempty"` // nil if nothing is known of that
}

// Status asks for the report.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	err := c.ask(ctx, "/status", &s)
	return s, err
}

// HostRules asks for the rules of single hosts.
func (c *Client) HostRules(ctx context.Context) (HostRules, error) {
	var h HostRules
	err := c.ask(ctx, "/rules", &h)
	return h, err
}

// AskQuestion asks a question with its parameters, as in a URL: hosts?limit=3. Its answer in JSON is read into into.
func (c *Client) AskQuestion(ctx context.Context, question string, into any) error {
	return c.ask(ctx, "/"+question, into)
}

// AnswerError is what is wrong with an action that the crawl has not done, or not for all of its lines.
type AnswerError struct {
	Status int // of the answer
	Text   string
}

func (e *AnswerError) Error() string { return e.Text }

// Do performs one of pause, resume, stop, leave, reload, add, block, rule, set, undo, with its parameters as in a URL:
// set?yes=true. args are the lines of its body.
func (c *Client) Do(ctx context.Context, action string, args []string) (Reply, error) {
	var r Reply
	status, err := c.call(ctx, http.MethodPost, "/"+action, strings.Join(args, "\n"), &r)
	if err == nil && r.Error != "" {
		err = &AnswerError{status, r.Error}
	}
	return r, err
}

func (c *Client) ask(ctx context.Context, path string, into any) error {
	_, err := c.call(ctx, http.MethodGet, path, "", into)
	return err
}

func (c *Client) call(ctx context.Context, method, path, body string, into any) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("control: %w", err)
	}
	resp, err := c.send(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, answerSize))
	if err != nil {
		return 0, fmt.Errorf("control: %w", err)
	}
	if resp.StatusCode == http.StatusUnauthorized {
		return 0, fmt.Errorf("%w (%s)", ErrToken, c.name)
	}
	if method == http.MethodGet && resp.StatusCode != http.StatusOK {
		var refusal Reply
		if err := json.Unmarshal(text, &refusal); err == nil && refusal.Error != "" {
			return 0, &AnswerError{resp.StatusCode, refusal.Error}
		}
		return 0, fmt.Errorf("control: %s answered %s: %.200s", path, resp.Status, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return 0, fmt.Errorf("control: %s answered %s: %.200s", path, resp.Status, text)
	}
	return resp.StatusCode, nil
}

// forward sends a request of a browser on, and returns the answer as it comes.
func (c *Client) forward(r *http.Request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, c.base+r.URL.RequestURI(), r.Body)
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	req.ContentLength = r.ContentLength
	if value := r.Header.Get("Cache-Control"); value != "" {
		req.Header.Set("Cache-Control", value)
	}
	return c.send(req)
}

// send sends a request with the token.
func (c *Client) send(req *http.Request) (*http.Response, error) {
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOTDIR) {
			return nil, fmt.Errorf("%w (%s)", ErrNotRunning, c.name)
		}
		if path, unix := strings.CutPrefix(c.name, "unix:"); unix && errors.Is(err, os.ErrPermission) {
			return nil, fmt.Errorf("%w (%s)%s", ErrDenied, c.name, ownerOf(path))
		}
		return nil, fmt.Errorf("control: %w", err)
	}
	return resp, nil
}
