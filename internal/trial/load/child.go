package load

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"orbweaver/internal/simweb"
)

// Child is a simulated web in a process of its own.
type Child struct {
	Where Addresses
	Seeds string // file, one URL a line

	cmd    *exec.Cmd
	in     io.Closer // its standard input: the child ends when it does, so it never outlives this process
	out    *bufio.Reader
	stderr bytes.Buffer
	dir    string // of its files
}

// childReady is how long it may take until it listens.
const childReady = 60 * time.Second

// StartChild starts program (this binary) as `sim`, a proxy on so many addresses, and waits until it listens. The
// caller calls Stop.
func StartChild(ctx context.Context, program string, world simweb.Config, proxies int, args ...string) (*Child, error) {
	var where []string
	for k := range max(proxies, 1) {
		where = append(where, fmt.Sprintf("127.0.0.%d:0", 1+k))
	}
	return StartChildAt(ctx, []string{program}, world, where, args...)
}

// StartChildAt does the same with a proxy at each of some addresses, as in Options, and with what begins the command
// line beside the program: a tool that becomes it.
func StartChildAt(
	ctx context.Context,
	program []string,
	world simweb.Config,
	proxies []string,
	args ...string,
) (*Child, error) {
	dir, err := os.MkdirTemp("", "orbweaver-web-")
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	w := &Child{dir: dir, Seeds: filepath.Join(dir, "seeds.txt")}
	b, err := json.Marshal(world)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "world.json"), b, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("load: %w", err), os.RemoveAll(dir))
	}
	args = append(
		[]string{"sim", "--json", "--until-eof", "--world", filepath.Join(dir, "world.json"), "--seeds-file", w.Seeds},
		args...)
	for _, address := range proxies {
		args = append(args, "--proxy", address)
	}
	args = slices.Concat(program[1:], args)
	w.cmd = exec.CommandContext(ctx, program[0], args...)
	w.cmd.Stderr = &w.stderr
	// It needs a quarter of what the crawler does; with fewer threads the two get into each other's way less often.
	w.cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", max(runtime.NumCPU()/2, 1)))
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("load: %w", err), os.RemoveAll(dir))
	}
	out, err := w.cmd.StdoutPipe()
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("load: the simulated web does not start: %w", err), os.RemoveAll(dir))
	}
	w.in, w.out = in, bufio.NewReaderSize(out, 1<<16)
	if err := w.ready(); err != nil {
		_, serr := w.Stop()
		return nil, errors.Join(err, serr)
	}
	return w, nil
}

// ready reads the addresses, which are printed when everything listens.
func (w *Child) ready() error {
	timer := time.AfterFunc(childReady, func() { _ = w.cmd.Process.Kill() })
	defer timer.Stop()
	if err := json.NewDecoder(&oneObject{in: w.out}).Decode(&w.Where); err != nil {
		return fmt.Errorf("load: the simulated web does not start: %w: %s", err, strings.TrimSpace(w.stderr.String()))
	}
	return nil
}

// Roots is what to trust, so that the certificates of the web's hosts hold; nil for a web without TLS.
func (w *Child) Roots() (*x509.CertPool, error) {
	if len(w.Where.Root) == 0 {
		return nil, nil //nolint:nilnil // as in tls.Config
	}
	root, err := x509.ParseCertificate(w.Where.Root)
	if err != nil {
		return nil, fmt.Errorf("load: the simulated web's certificate: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(root)
	return pool, nil
}

// Stop asks the child to end and returns its summary. It can take a while: the child judges the crawl.
func (w *Child) Stop() (Summary, error) {
	var sum Summary
	_ = w.in.Close() // it may have ended by itself, which Wait tells
	rest, err := io.ReadAll(w.out)
	err = errors.Join(err, w.cmd.Wait(), os.RemoveAll(w.dir))
	if err != nil {
		return sum, fmt.Errorf("load: the simulated web: %w: %s", err, strings.TrimSpace(w.stderr.String()))
	}
	if err := json.Unmarshal(rest, &sum); err != nil {
		return sum, fmt.Errorf("load: the simulated web's summary: %w", err)
	}
	return sum, nil
}

// oneObject gives a decoder one line at a time, so that it takes no more than the first object.
type oneObject struct {
	in   *bufio.Reader
	line []byte
}

// Read gives at most the rest of a line.
func (o *oneObject) Read(b []byte) (int, error) {
	if len(o.line) == 0 {
		line, err := o.in.ReadBytes('\n')
		if err != nil {
			return 0, err
		}
		o.line = line
	}
	n := copy(b, o.line)
	o.line = o.line[n:]
	return n, nil
}
