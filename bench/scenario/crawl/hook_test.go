package crawl

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/page/hook"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// chain is a guest: a site whose pages have no links. Only the program of --hook knows the next one.
type chain struct{ pages int }

// Host implements simweb.Guest.
func (chain) Host(name string) (address netip.Addr, ok bool) {
	return netip.AddrFrom4([4]byte{198, 51, 100, 9}), name == "chain.test"
}

// Serve implements simweb.Guest.
func (c chain) Serve(conn net.Conn, r simweb.GuestRequest) simweb.GuestResult {
	reply := simweb.GuestReply{Status: 404, Type: "Text/HTML; charset=utf-8", Body: []byte("<p>there is nothing here")}
	var n int
	if _, err := fmt.Sscanf(r.Path, "/p%d", &n); err == nil && n < c.pages {
		reply.Status, reply.Body = 200, fmt.Appendf(nil, "<title>page %d</title>%s", n, words(r.Path))
	}
	return reply.Send(conn)
}

// nextPage is a program of --hook, within this process: its answers name the next page. It implements hook.Starter.
type nextPage struct{ starts, asked atomic.Int64 }

// pipes is a started program. It implements hook.Program.
type pipes struct {
	answers   *io.PipeReader
	questions *io.PipeWriter
	own       *io.PipeReader // the other end of questions
}

func (p pipes) Read(b []byte) (int, error) { return p.answers.Read(b) }

func (p pipes) Write(b []byte) (int, error) { return p.questions.Write(b) }

// CloseInput implements hook.Program.
func (p pipes) CloseInput() { _ = p.questions.Close() }

// Kill implements hook.Program.
func (p pipes) Kill() { _, _, _ = p.answers.Close(), p.questions.Close(), p.own.Close() }

// startPipes starts a program that answers within this process.
func startPipes(answer func(head, body []byte) string) pipes {
	in, questions := io.Pipe()
	answers, out := io.Pipe()
	go func() {
		_ = out.CloseWithError(eachFrame(in, out, answer))
	}()
	return pipes{answers, questions, in}
}

// Start implements hook.Starter.
func (x *nextPage) Start(string) (hook.Program, error) {
	x.starts.Add(1)
	return startPipes(x.answer), nil
}

// answer answers a frame.
func (x *nextPage) answer(head, body []byte) string {
	var page hook.Page
	if err := json.Unmarshal(head, &page); err != nil {
		return err.Error()
	}
	x.asked.Add(1)
	var n int
	_, _ = fmt.Sscanf(page.Title, "page %d", &n) // 0 for the first page, or if it has no title
	return fmt.Sprintf(`{"v":1,"id":%d,"links":["p%d"],"counts":{"bodies":%d}}`, page.ID, n+1, min(len(body), 1))
}

// eachFrame answers frames until the input ends.
func eachFrame(in io.Reader, out io.Writer, answer func(head, body []byte) string) error {
	for {
		var lengths [8]byte
		if _, err := io.ReadFull(in, lengths[:]); err != nil {
			return err
		}
		head := make([]byte, binary.BigEndian.Uint32(lengths[:4]))
		body := make([]byte, binary.BigEndian.Uint32(lengths[4:]))
		if _, err := io.ReadFull(in, head); err != nil {
			return err
		}
		if _, err := io.ReadFull(in, body); err != nil {
			return err
		}
		said := answer(head, body)
		frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(said))), 0, 0, 0, 0)
		if _, err := out.Write(append(frame, said...)); err != nil {
			return err
		}
	}
}

// powerCut is the Death of a machine.
func powerCut(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(nil) }

// A site of 60 pages is found by the answers of the program alone, over kills and power cuts: links of answers are in
// the journal. Each page is asked about once, and again only if it was fetched again.
func TestHook_linksOutliveKillsAndPowerCuts(t *testing.T) {
	const pages = 60
	for name, death := range map[string]testbed.Death{"kill": testbed.Sigkill, "power": powerCut} {
		synctest.Test(t, func(t *testing.T) {
			rig, program := oneWorld(t), new(nextPage)
			rig.World.Invite(chain{pages})
			rig.Hook = program
			cfg := engine.Simulation()
			cfg.Seeds, cfg.Filters.Scope = testbed.Seeds{"http://chain.test/p0"}, "domain"
			cfg.Hook.Hooks, cfg.Intervals.Checkpoint = []string{"page:text/html=next"}, 20*time.Second
			disk := rig.FS
			for range 4 {
				var ended bool
				if disk, ended = testbed.Kill(t, rig, cfg, disk, 23*time.Second, death); ended {
					t.Errorf("%s: the crawl ended too soon", name)
				}
			}
			r, err := rig.Crawl(t.Context(), cfg, disk)
			if err != nil {
				t.Fatal(err)
			}
			if err := rig.Net.Close(); err != nil {
				t.Error(err)
			}
			found := 0
			for url, n := range testbed.CountCaptures(t, disk) {
				if strings.HasPrefix(url, "http://chain.test/p") && n.Pages > 0 {
					found++
				}
			}
			if asked := program.asked.Load(); found != pages || asked < pages || asked > pages+8 {
				t.Errorf("%s: %d pages, %d questions, %v", name, found, asked, r.Outcomes)
			}
			if r.Stats["bodies"] != pages || r.Hook.Pages["answered"] == 0 {
				t.Errorf("%s: %v, %+v", name, r.Stats, r.Hook)
			}
			sound := testbed.Fsck(t, disk)
			testbed.WantSound(t, &sound)
		})
	}
}
