package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
)

// socketName is the socket's name within the crawl directory.
const socketName = "control.sock"

// pathMax is the longest path that every system takes for a socket, in bytes.
const pathMax = 100

// SocketOf is where each crawl on this machine listens, whatever --listen adds: so its directory is enough to find it.
func SocketOf(dir string) string { return "unix:" + filepath.Join(dir, socketName) }

func listen(ctx context.Context, address string) (net.Listener, error) {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		return listenUnix(ctx, path)
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", address)
}

// listenUnix listens on a socket that its owner alone may use. A socket that a killed process left is replaced; one
// that answers, and whatever is no socket, is not.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	path, done, err := shorten(path)
	if err != nil {
		return nil, err
	}
	l, err := replaceUnix(ctx, path)
	if err != nil {
		return nil, errors.Join(err, done())
	}
	return &unixListener{Listener: l, done: done}, nil
}

func replaceUnix(ctx context.Context, path string) (net.Listener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSocket == 0:
		return nil, fmt.Errorf("%s is there and is no socket", path)
	default:
		if conn, err := net.Dial("unix", path); err == nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, syscall.EADDRINUSE), conn.Close())
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	private := net.ListenConfig{Control: ownerOnly}
	l, err := private.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// unixListener removes its socket when it is closed.
type unixListener struct {
	net.Listener
	done func() error
}

// Close also lets go of the directory that a long path goes through.
func (l *unixListener) Close() error { return errors.Join(l.Listener.Close(), l.done()) }

func dialUnix(ctx context.Context, path string) (net.Conn, error) {
	path, done, err := shorten(path)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	return conn, errors.Join(err, done())
}

// shorten gives a path that is too long for a socket's address another name, through an open descriptor of its
// directory. It is good until done is called.
func shorten(path string) (short string, done func() error, err error) {
	if len(path) <= pathMax {
		return path, func() error { return nil }, nil
	}
	const through = "/proc/self/fd"
	if _, err := os.Stat(through); err != nil {
		return "", nil, fmt.Errorf(
			"%s: %d bytes are too many for a socket's path; start the crawl with --listen host:port", path, len(path))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("%s/%d/%s", through, dir.Fd(), filepath.Base(path)), dir.Close, nil
}

// isSameSocket reports whether two paths lead to one socket that is there.
func isSameSocket(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// ownerOf says as which user the crawl of a socket runs; "" if that cannot be known.
func ownerOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	uid, ok := ownerID(info)
	if !ok {
		return ""
	}
	name := "uid " + uid
	if u, err := user.LookupId(uid); err == nil {
		name = u.Username
	}
	return ": run this command as user " + name
}
