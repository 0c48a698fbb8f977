package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"text/template"
	"time"
)

//go:embed apps/*
var files embed.FS

// servers are the processes that were started, in this order.
type servers struct{ running []*exec.Cmd }

func tail(b []byte) []byte { return b[max(0, len(b)-2000):] }

// serve starts the name server, the database if an application needs it, fills the applications and starts the web
// servers.
func (r *run) serve(ctx context.Context) (*servers, error) {
	s := new(servers)
	names := []string{
		"--keep-in-foreground",
		"--conf-file=/dev/null",
		"--no-resolv",
		"--no-hosts",
		"--pid-file=",
		"--user=root",
		"--bind-interfaces",
		"--listen-address=127.0.0.1",
	}
	for _, site := range r.sites {
		names = append(names, "--address=/"+site.host()+"/"+site.addr)
	}
	if err := s.start(r.command(ctx, "/usr/sbin/dnsmasq", names...), r.path("dnsmasq.log"), "127.0.0.1:53"); err != nil {
		return s, err
	}
	resolv := filepath.Join(r.root, "etc/resolv.conf")
	err := os.WriteFile(resolv, []byte("nameserver 127.0.0.1\n"), 0o644) //nolint:gosec // read by all
	if err != nil {
		return s, err
	}
	for _, site := range r.of(application) {
		began := time.Now()
		if err := site.app.fill(ctx, r, s, site); err != nil {
			return s, fmt.Errorf("%s: %w", site.name, err)
		}
		r.say("%s is filled, in %.0f s", site.name, time.Since(began).Seconds())
	}
	for _, name := range []string{"nginx", "apache"} {
		of := slices.DeleteFunc(slices.Clone(r.sites), func(s *site) bool { return s.server != name })
		if len(of) == 0 {
			continue
		}
		if err := r.serveWith(ctx, s, name, of); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (r *run) serveWith(ctx context.Context, s *servers, name string, of []*site) error {
	var conf bytes.Buffer
	text, err := template.New("").Funcs(template.FuncMap{"modules": r.modules}).ParseFS(files, "apps/*.conf")
	if err == nil {
		err = text.ExecuteTemplate(&conf, name+".conf", map[string]any{"Work": r.inside(), "Sites": virtualHosts(of)})
	}
	if err == nil {
		err = os.WriteFile(r.path(name+".conf"), conf.Bytes(), 0o644) //nolint:gosec // the servers' own users read it
	}
	if err != nil {
		return err
	}
	c := r.command(ctx, "/usr/sbin/nginx", "-e", r.inside("nginx.error"), "-c", r.inside("nginx.conf"))
	if name == "apache" {
		c = r.command(ctx, "/usr/sbin/apache2", "-D", "FOREGROUND", "-f", r.inside("apache.conf"))
	}
	return s.start(c, r.path(name+".log"), of[0].addr+":80")
}

// virtualHost is what the servers' configuration says of a site.
type virtualHost struct {
	Name, IP, Root, IndexFile, Conf string
	Lists                           bool
}

func virtualHosts(of []*site) (hosts []virtualHost) {
	for _, s := range of {
		h := virtualHost{Name: s.host(), IP: s.addr, Root: s.dir, IndexFile: s.index, Lists: s.list}
		if s.kind == application {
			h.Conf = s.app.conf
		}
		hosts = append(hosts, h)
	}
	return hosts
}

// start starts a server and waits until it answers, if it has an address.
func (s *servers) start(c *exec.Cmd, log, addr string) error {
	f, err := os.Create(log)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // the child has it
	c.Stdout, c.Stderr = f, f
	if err := c.Start(); err != nil {
		return err
	}
	s.running = append(s.running, c)
	if addr == "" {
		return nil
	}
	return await("tcp", addr, c.Path, log)
}

// await waits until a server answers.
func await(network, addr, name, log string) error {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		conn, err := net.Dial(network, addr)
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(deadline) {
			said, _ := os.ReadFile(log) //nolint:gosec // a log of this run
			return fmt.Errorf("%s does not answer on %s: %w: %s", name, addr, err, tail(said))
		}
	}
}

// stop ends the servers, the last one first.
func (s *servers) stop() {
	for _, c := range slices.Backward(s.running) {
		_ = c.Process.Signal(syscall.SIGTERM)
		var left *exec.ExitError
		if err := c.Wait(); err != nil && !errors.As(err, &left) {
			fmt.Fprintln(os.Stderr, "realsite:", err)
		}
	}
}
