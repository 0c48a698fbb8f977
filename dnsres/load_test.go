package dnsres_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orbweaver/dnsres"
	"orbweaver/internal/cputime"
)

// BenchmarkNames asks for names that are not in the cache, for both families, as the resolve loops of a crawl do. A
// name server in a process of its own answers after 50 ms and drops 1 % of the questions.
//
//	go test ./dnsres -run '^$' -bench Names -cpu 1 -benchtime 100000x
//
// It reports the processor time of this process and that of the server for a name, apart. bench/results/dns.md has
// the figures.
func BenchmarkNames(b *testing.B) {
	for _, c := range []struct {
		what string
		loss string
		six  bool
	}{{"both", "1", true}, {"IPv4", "1", false}, {"both-lossless", "0", true}} {
		b.Run(c.what, func(b *testing.B) {
			server := startNameServer(b, c.loss)
			askForNames(b, server.addr, c.six)
			b.ReportMetric(float64(server.stop(b).Microseconds())/float64(b.N), "server-us/name")
		})
	}
	if other := os.Getenv(otherVariable); other != "" {
		b.Run("other", func(b *testing.B) { askForNames(b, netip.MustParseAddrPort(other), true) })
	}
}

// otherVariable may be set to the address of another name server, which knows every name of "example".
const otherVariable = "DNSRES_BENCH_SERVER"

// askers is the number of goroutines that ask: as many as in a crawl with 640 fetch workers or more.
const askers = 640

func askForNames(b *testing.B, server netip.AddrPort, six bool) {
	var dials atomic.Int64
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	r, err := dnsres.New(dnsres.Options{
		Upstreams: []netip.AddrPort{server}, IPv6: six, CacheMax: 100_000,
	}, dnsres.NetExchanger{Dial: dial})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	before, began := cputime.Process(), time.Now()
	var next, done, failed atomic.Int64
	var asked sync.WaitGroup
	var quarters [5]atomic.Int64 // when so many quarters of the names had an answer
	for range askers {
		asked.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if a := r.Resolve(b.Context(), fmt.Sprintf("www.site-%d.example", i)); a.Err != nil {
					failed.Add(1)
				}
				if n := done.Add(1) * 4; n%int64(b.N) < 4 {
					quarters[n/int64(b.N)].Store(int64(time.Since(began)))
				}
			}
		})
	}
	asked.Wait()
	cpu := cputime.Process() - before
	b.StopTimer()
	names, s := float64(b.N), r.Stats()
	// The last callers wait for questions that were lost, while nothing else is left to ask.
	b.ReportMetric(names/2/time.Duration(quarters[3].Load()-quarters[1].Load()).Seconds(), "names/s")
	b.ReportMetric(float64(cpu.Microseconds())/names, "us/name")
	b.ReportMetric(float64(s.Exchanges)/names, "questions/name")
	b.ReportMetric(float64(dials.Load())/names, "sockets/name")
	b.ReportMetric(float64(s.Timeouts)/float64(s.Exchanges)*100, "%lost")
	b.ReportMetric(float64(failed.Load()), "failed")
}

// nameServer is a name server in a process of its own.
type nameServer struct {
	addr  netip.AddrPort
	cmd   *exec.Cmd
	input io.Closer
}

// serverVariable is set for the process of a name server: how many of 100 questions it drops.
const serverVariable = "DNSRES_TEST_SERVER"

func startNameServer(b *testing.B, loss string) *nameServer {
	cmd := exec.Command(os.Args[0], "-test.run=^TestNameServerProcess$", "-test.cpu=1")
	cmd.Env = append(os.Environ(), serverVariable+"="+loss)
	input, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	var addr string
	if _, err := fmt.Fscanln(output, &addr); err != nil {
		b.Fatal(err)
	}
	return &nameServer{addr: netip.MustParseAddrPort(addr), cmd: cmd, input: input}
}

// stop ends the process and returns its processor time.
func (s *nameServer) stop(b *testing.B) time.Duration {
	_ = s.input.Close()
	if err := s.cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
}

// TestNameServerProcess is the process of the name server of BenchmarkNames. It ends when its standard input does.
func TestNameServerProcess(t *testing.T) {
	loss := strings.TrimSpace(os.Getenv(serverVariable))
	if loss == "" {
		t.Skip("this is the name server of BenchmarkNames")
	}
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadBuffer(8 << 20); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = conn.Close()
	})
	fmt.Println(conn.LocalAddr())
	answers := make(chan delayed, 1<<16)
	all.Go(func() { sendDelayed(conn, answers) })
	var lost int
	_, _ = fmt.Sscan(loss, &lost)
	for {
		a := delayed{packet: make([]byte, 512)}
		n, from, err := conn.ReadFromUDPAddrPort(a.packet[:400])
		if err != nil {
			break
		}
		if rand.IntN(100) >= lost {
			a.packet, a.to, a.due = answerPacket(a.packet[:n]), from, time.Now().Add(50*time.Millisecond)
			answers <- a
		}
	}
	close(answers)
	all.Wait()
}

// delayed is an answer that is sent later.
type delayed struct {
	packet []byte
	to     netip.AddrPort
	due    time.Time
}

func sendDelayed(conn *net.UDPConn, answers <-chan delayed) {
	for a := range answers {
		if wait := time.Until(a.due); wait > 0 {
			time.Sleep(max(wait, time.Millisecond)) // sends the answers of a millisecond together
		}
		_, _ = conn.WriteToUDPAddrPort(a.packet, a.to)
	}
}

// answerPacket makes the answer to a packed question: an address for type A, a SOA record for other types.
func answerPacket(q []byte) []byte {
	end := 12
	for q[end] != 0 {
		end += 1 + int(q[end])
	}
	end += 5
	isA := q[end-3] == 1
	packet := q[:end] // without EDNS0: the server need not say its size
	packet[2], packet[3] = 0x81, 0x80
	clear(packet[6:12])
	record := func(kind, length byte) {
		packet = append(packet, 0xC0, 12, 0, kind, 0, 1, 0, 0, 1, 44, 0, length)
	}
	if isA {
		packet[7] = 1
		record(1, 4)
		return append(packet, 198, 51, 100, q[0])
	}
	packet[9] = 1
	record(6, 24)
	packet = append(packet, 0xC0, 12, 0xC0, 12)
	for range 5 {
		packet = binary.BigEndian.AppendUint32(packet, 300)
	}
	return packet
}
