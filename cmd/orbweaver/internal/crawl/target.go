package crawl

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"orbweaver/engine/operate/control"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/process"
	"orbweaver/internal/vfs"
)

// Target are the flags of a command that talks to a running crawl.
type Target struct {
	Dir string `help:"Crawl directory." default:"./crawl" placeholder:"DIR"`
	Access
}

// Access says where a crawl listens, if that is not the socket in its directory.
type Access struct {
	Address string `help:"Where the crawl listens: the host:port of --listen, for a crawl on another machine. One on this machine is found by its directory." placeholder:"ADDR"`
	Token   string `help:"File with the token of a crawl that listens on host:port; by default that in the crawl directory." placeholder:"FILE"`
}

// Client returns a client of the crawl. It brings the token where one may be needed. A crawl on this machine left it in
// its directory.
func (t *Target) Client() (*control.Client, error) {
	if t.Address == "" {
		if err := command.FindDir(t.Dir); err != nil {
			return nil, err
		}
		return control.Dial(control.SocketOf(t.Dir), ""), nil
	}
	if strings.HasPrefix(t.Address, "unix:") {
		return control.Dial(t.Address, ""), nil
	}
	name := t.Token
	if name == "" {
		name = TokenFile(t.Dir)
	}
	token, err := ReadToken(name)
	if err != nil && (t.Token != "" || !errors.Is(err, fs.ErrNotExist)) {
		return nil, fmt.Errorf("--token: %w", err)
	}
	return control.Dial(t.Address, token), nil
}

// ErrNoAnswer says that a crawl runs in the directory and does not answer.
var ErrNoAnswer = errors.New("a crawl runs there and does not answer")

// IsStopped reports whether an error of the client means that no crawl runs in the directory, so that its files can be
// read in place of an answer.
func (t *Target) IsStopped(err error) bool {
	return t.Address == "" && errors.Is(err, control.ErrNotRunning) && !errors.Is(t.Remedy(err), ErrNoAnswer)
}

// Remedy adds to an error of the client what to do.
func (t *Target) Remedy(err error) error {
	switch {
	case errors.Is(err, control.ErrNotRunning) && t.Address != "":
		return fmt.Errorf("%w; start the crawl with --listen, or leave --address out", err)
	case errors.Is(err, control.ErrNotRunning):
		owner, lerr := inUse(t.Dir)
		switch {
		case lerr != nil:
			return fmt.Errorf("%w; whether one runs is not known: %w", err, lerr)
		case owner != "":
			return fmt.Errorf("%w (%s): %s; it starts or ends just now, or it is on another machine or in a container: "+
				"ask it there, or with --address if it has --listen", ErrNoAnswer, owner, t.Dir)
		}
		return fmt.Errorf("%w; start it with: orbweaver crawl --dir %s", err, t.Dir)
	case errors.Is(err, control.ErrToken):
		return fmt.Errorf("%w: leave --address out, and name its directory (--dir), or its file %s (--token)",
			err, TokenName)
	default:
		return err
	}
}

// inUse returns which crawl works in a directory; "" if none does.
func inUse(dir string) (owner string, err error) {
	return layout.InUse(vfs.Disk(), filepath.ToSlash(dir), process.MayBeAlive)
}
