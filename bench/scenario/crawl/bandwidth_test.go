package crawl

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/page/filter"
)

// meteredHosts are hosts with pages of a size. They count the bytes that the crawl has taken from them.
type meteredHosts struct {
	testbed.ScriptedHosts
	bytes       map[string]*atomic.Int64
	first, last atomic.Int64 // Unix nanoseconds
}

// newMeteredHosts returns hosts with names that are made of a number. Each has its root and so many pages.
func newMeteredHosts(hosts, pages, size int) *meteredHosts {
	m := &meteredHosts{bytes: map[string]*atomic.Int64{}}
	m.Hosts = map[string]testbed.Responder{}
	for i := range hosts {
		name := fmt.Sprintf("host%d.test", i)
		count := new(atomic.Int64)
		m.bytes[name] = count
		body := strings.Repeat("word ", size/5)
		m.Hosts[name] = func(path string, _ int, c net.Conn) {
			c = &meter{Conn: c, hosts: m, count: count}
			switch path {
			case "/robots.txt":
				testbed.Respond(c, 404, "", "")
			case "/":
				testbed.Respond(c, 200, "", testbed.LinksPage(pages))
			default:
				testbed.Respond(c, 200, "", path+body)
			}
		}
	}
	return m
}

// meter counts what a host sends.
type meter struct {
	net.Conn
	hosts *meteredHosts
	count *atomic.Int64
}

func (m *meter) Write(b []byte) (int, error) {
	m.hosts.first.CompareAndSwap(0, time.Now().UnixNano())
	n, err := m.Conn.Write(b)
	m.count.Add(int64(n))
	m.hosts.last.Store(time.Now().UnixNano())
	return n, err
}

// rate returns bytes per second from all hosts whose name has a part, between the first and the last byte of all.
func (m *meteredHosts) rate(part string) float64 {
	sum := int64(0)
	for name, n := range m.bytes {
		if strings.Contains(name, part) {
			sum += n.Load()
		}
	}
	return float64(sum) / time.Duration(m.last.Load()-m.first.Load()).Seconds()
}

// impolite makes the limit of bandwidth the only one that matters.
func impolite(c *engine.Config) {
	c.Politeness.HostDelay, c.Politeness.IPDelay = 0, 0
	c.Workers.Fetchers = 32
}

func checkRate(t *testing.T, what string, rate, limit float64) {
	t.Helper()
	t.Logf("%s: %.0f bytes per second, limit %.0f", what, rate, limit)
	if rate > 1.05*limit || rate < 0.95*limit {
		t.Errorf("%s: %.0f bytes per second, limit %.0f", what, rate, limit)
	}
}

// What servers send is within 5 % of the limit: with small pages, with long ones, and with one slow host among fast
// ones. No page is cut or tried again for it.
func TestBandwidth_theServersSeeTheLimit(t *testing.T) {
	for _, c := range []struct {
		name               string
		limit              int64
		hosts, pages, size int
	}{
		{"small pages", 50 << 10, 40, 100, 2 << 10},
		{"long pages", 200 << 10, 40, 4, 1 << 20},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := newMeteredHosts(c.hosts, c.pages, c.size)
			m.Hosts["slow.test"] = func(path string, _ int, conn net.Conn) {
				if path == "/robots.txt" {
					testbed.Respond(conn, 404, "", "")
					return
				}
				fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 240000\r\n\r\n")
				for range 60 {
					_, _ = conn.Write(bytes.Repeat([]byte{'x'}, 4000))
					<-time.After(time.Second)
				}
			}
			r, _ := m.Crawl(t, func(cfg *engine.Config) {
				impolite(cfg)
				cfg.Limits.Bandwidth.Total = c.limit
			})
			if want := int64(c.hosts*(c.pages+1) + 1); r.Outcomes["ok"] != want || r.Retries != 0 {
				t.Errorf("%s: %v, %d retries, want %d pages", c.name, r.Outcomes, r.Retries, want)
			}
			checkRate(t, c.name, m.rate(""), float64(c.limit))
		})
	}
}

// Each host has its limit, by a rule or by --host-bandwidth, and hosts without one are as fast as they can be.
func TestBandwidth_eachHostSeesItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeteredHosts(2, 200, 20<<10)
		rules := new(filter.HostRules)
		_, err := rules.Grow("host1.test host-bandwidth=40KiB/s")
		if err != nil {
			t.Fatal(err)
		}
		r, _ := m.Crawl(t, func(cfg *engine.Config) {
			impolite(cfg)
			cfg.Limits.Bandwidth.PerHost = 20 << 10
			cfg.Filters.HostRules = rules
		})
		if r.Outcomes["ok"] != 402 || r.Retries != 0 {
			t.Errorf("%v, %d retries", r.Outcomes, r.Retries)
		}
		checkRate(t, "the slower host", m.rate("host0"), 20<<10)
		checkRate(t, "the host with a rule", 2*m.rate("host1"), 40<<10) // it has ended after half of the time
	})
}

// A body that the limit stretches over hours is kept whole: no time-out counts the time that the crawl itself waits.
// A server that would be too slow without a limit is too slow with one.
func TestBandwidth_noHostIsBlamedForTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeteredHosts(30, 1, 1<<20)
		m.Hosts["slow.test"] = func(path string, _ int, conn net.Conn) {
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
			for path != "/robots.txt" {
				if _, err := conn.Write([]byte("slow ")); err != nil {
					return
				}
				<-time.After(time.Second)
			}
		}
		r, _ := m.Crawl(t, func(cfg *engine.Config) {
			impolite(cfg)
			cfg.Limits.Bandwidth.Total = 4 << 10
			cfg.Politeness.Tries = 1
		})
		if r.Outcomes["ok"] != 60 || r.Outcomes["truncated-time"] != 1 {
			t.Errorf("%v", r.Outcomes)
		}
		checkRate(t, "long bodies", m.rate(""), 4<<10)
	})
}
