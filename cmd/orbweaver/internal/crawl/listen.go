package crawl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"orbweaver/engine/operate/control"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/vfs"
)

// listening is the control port of a crawl.
type listening struct {
	*control.Server
	token string // the file that was made for it; "" if none was
}

// controlOptions are the address of the control port and its token.
type controlOptions struct {
	Listen     string   `help:"Further address for control and metrics: host:port, or unix:PATH. The Unix socket in the crawl directory, for its owner only, is there in any case." placeholder:"ADDR"`
	ListenName []string `help:"Name of this server as a reverse proxy sends it in Host, besides that of --listen (repeatable)." placeholder:"HOST"`
	Token      string   `help:"File whose first line is the token that requests to --listen host:port need. By default a token is made for each run, in control.token of the crawl directory, where ctl finds it. Required if the address is not loopback. Nothing is encrypted." placeholder:"FILE"`
}

// listen opens the control ports with options of the crawl: the socket in its directory, and what was asked for. On
// host:port a token is wanted; one is made where only this machine can connect, and must be given for any
// other address.
func (c *controlOptions) listen(
	ctx context.Context,
	dir string,
	fsys vfs.FS,
	crawl control.Crawl,
	o control.Options,
) (l listening, err error) {
	o.Socket, o.Address, o.Names = control.SocketOf(dir), c.Listen, c.ListenName
	o.History = control.HistoryFile{FS: fsys, Name: filepath.ToSlash(dir) + "/" + layout.HistoryFile, Crawl: dir}
	switch {
	case o.Address == "", strings.HasPrefix(o.Address, "unix:"):
	case c.Token != "":
		o.Token, err = ReadToken(c.Token)
	case IsLoopback(o.Address):
		if o.Token, err = newToken(dir); err == nil {
			l.token = TokenFile(dir)
		}
	}
	if err != nil {
		return l, fmt.Errorf("--token: %w", err)
	}
	if l.Server, err = control.Listen(ctx, o, crawl); err != nil {
		if errors.Is(err, control.ErrNoToken) {
			err = fmt.Errorf("%w: give --token FILE, or listen on 127.0.0.1", err)
		}
		return l, errors.Join(fmt.Errorf("--listen: %w", err), l.forget())
	}
	return l, nil
}

// checkListen reports an address that is none, and what a Unix socket does not use.
func (c *controlOptions) checkListen() error {
	var bad command.Faults
	isSocket := c.Listen == "" || strings.HasPrefix(c.Listen, "unix:")
	if !isSocket {
		_, port, err := net.SplitHostPort(c.Listen)
		if _, perr := net.LookupPort("tcp", port); err != nil || perr != nil {
			bad.Add("--listen", fmt.Errorf("%q is no address such as 127.0.0.1:8090 or unix:PATH", c.Listen))
		}
	}
	switch {
	case c.Token == "":
	case isSocket:
		bad.Add("--token", errors.New("a Unix socket needs none: it is for --listen host:port"))
	default:
		_, err := ReadToken(c.Token)
		bad.Add("--token", err)
	}
	if isSocket && len(c.ListenName) > 0 {
		bad.Add("--listen-name", errors.New("a Unix socket has none: it is for --listen host:port"))
	}
	return bad.Err()
}

// probe returns what is wrong with --listen and --token, before the crawl directory is made. It says nothing about a
// socket in a directory that may be made with the crawl.
func (c *controlOptions) probe(ctx context.Context, dir string) error {
	path, unix := strings.CutPrefix(c.Listen, "unix:")
	if inside, err := filepath.Rel(dir, path); unix && err == nil && !strings.HasPrefix(inside, "..") || c.Listen == "" {
		return nil
	}
	token := "a token that is made later"
	if c.Token != "" {
		var err error
		if token, err = ReadToken(c.Token); err != nil {
			return fmt.Errorf("--token: %w", err)
		}
	} else if !IsLoopback(c.Listen) {
		token = ""
	}
	err := control.Probe(ctx, c.Listen, token)
	if errors.Is(err, control.ErrNoToken) {
		err = fmt.Errorf("%w: give --token FILE, or listen on 127.0.0.1", err)
	}
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	return nil
}

// IsLoopback says that an address can only be this machine's own. A name other than localhost is none.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// close ends the port and takes the token away, which was good for this run.
func (l listening) close() error { return errors.Join(l.Close(), l.forget()) }

func (l listening) forget() error {
	if l.token == "" {
		return nil
	}
	if err := os.Remove(l.token); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
