package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"

	"orbweaver/engine/control"
)

// listening is the control port of a crawl.
type listening struct {
	*control.Server
	token string // the file that was made for it; "" if none was
}

// listen opens the control port: a socket in the crawl directory, or what was asked for. On host:port a token is
// wanted; one is made where only this machine can connect, and must be given for any other address.
func (c *crawlCmd) listen(ctx context.Context, crawl control.Crawl, reload func() (string, error), log *slog.Logger) (l listening, err error) {
	o := control.Options{Address: c.Listen, Reload: reload, Log: log}
	switch {
	case o.Address == "":
		o.Address = control.Address(c.Config.Dir)
	case strings.HasPrefix(o.Address, "unix:"):
	case c.Token != "":
		o.Token, err = readToken(c.Token)
	case isLoopback(o.Address):
		if o.Token, err = newToken(c.Config.Dir); err == nil {
			l.token = tokenFile(c.Config.Dir)
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

// isLoopback says that an address can only be this machine's own. A name other than localhost is none.
func isLoopback(address string) bool {
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
