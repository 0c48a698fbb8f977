package crawl

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"orbweaver/engine/control"
)

// Target are the flags of a command that talks to a running crawl.
type Target struct {
	Dir string `help:"Crawl directory." default:"./crawl" placeholder:"DIR"`
	Access
}

// Access says where a crawl listens, if that is not the socket in its directory.
type Access struct {
	Address string `help:"Where the crawl listens, if it was started with --listen." placeholder:"ADDR"`
	Token   string `help:"File with the token of a crawl that listens on host:port; by default that in the crawl directory." placeholder:"FILE"`
}

// Client returns a client of the crawl. It brings the token where one may be needed. A crawl on this machine left it in
// its directory.
func (t *Target) Client() (*control.Client, error) {
	if t.Address == "" {
		return control.Dial(control.Address(t.Dir), ""), nil
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

// Remedy adds to an error of the client what to do.
func (t *Target) Remedy(err error) error {
	switch {
	case errors.Is(err, control.ErrNotRunning):
		return fmt.Errorf(
			"%w; start it with: orbweaver crawl --dir %s (a crawl with --listen is found by --address)", err, t.Dir,
		)
	case errors.Is(err, control.ErrToken):
		return fmt.Errorf("%w: name its directory (--dir, which holds %s) or its file (--token)", err, TokenName)
	default:
		return err
	}
}
