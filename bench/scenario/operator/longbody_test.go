package operator

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/operator"
)

// The bytes of a long body are there as they come: in the report, in what the crawl waits for, and in the list of
// exchanges, with the length that the server has declared.
func TestLongBody_isCountedAsItComes(t *testing.T) {
	const length = 200 << 10
	synctest.Test(t, func(t *testing.T) {
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
			testbed.FirstHost: func(path string, _ int, c net.Conn) {
				if path == "/robots.txt" {
					testbed.Respond(c, 404, "", "")
					return
				}
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n", length)
				for range length >> 10 {
					time.Sleep(300 * time.Millisecond)
					fmt.Fprint(c, strings.Repeat("a few words. ...", 1<<10/16))
				}
			},
		}}
		began, last, grew, seen := time.Now(), int64(0), time.Now(), 0
		s.Watch = func(e *engine.Engine) {
			r := e.Report()
			if r.BytesArrived > last {
				last, grew = r.BytesArrived, time.Now()
			}
			if r.BytesUnderWay < 100<<10 {
				return
			}
			seen++
			if since := time.Since(grew); since > time.Second {
				t.Errorf("after %v: nothing has come for %v", time.Since(began), since)
			}
			if !strings.Contains(r.Waiting, " KiB of 200 KiB)") {
				t.Errorf("waiting for %s", r.Waiting)
			}
			answer, err := e.Operator().AnswerQuestion(t.Context(), "active", nil)
			if err != nil {
				t.Error(err)
				return
			}
			active := answer.(operator.Active).Exchanges
			if len(active) == 0 {
				return // it has ended since the report
			}
			if x := active[0]; x.Received < 100<<10 || x.Length <= length || x.Length > length+1000 {
				t.Errorf("%+v", x)
			}
		}
		r, _ := s.Crawl(t, func(*engine.Config) {})
		if seen < 200 || r.BytesUnderWay != 0 || r.BytesArrived != r.BytesReceived || r.BytesArrived <= length {
			t.Errorf("%d looks, %d bytes arrived, %d received, %d under way", seen, r.BytesArrived, r.BytesReceived,
				r.BytesUnderWay)
		}
	})
}
