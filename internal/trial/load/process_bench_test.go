package load

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/origin"
)

// serverProcess is the environment variable that makes the test binary a server, so that its CPU time can be told from
// the client's.
const serverProcess = "LOAD_TEST_SERVER"

// runServerProcess serves until its standard input ends; kind says what: the world, or the same bytes for everything.
func runServerProcess(kind string) int {
	w, err := origin.New(simweb.Plain())
	if err != nil {
		return 1
	}
	if kind == "bare" {
		return runBareServer(w)
	}
	s, err := Start(context.Background(), w, Options{Proxy: "127.0.0.1:0", Log: w.NewLog()})
	if err != nil {
		return 1
	}
	fmt.Println(s.ProxyAddr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	if s.Close() != nil {
		return 1
	}
	return 0
}

// runBareServer does what cannot be left out: accept, read, write, close.
func runBareServer(w *origin.Web) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	fmt.Println(l.Addr())
	answer := []byte("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
	answer = append(answer, make([]byte, 17899-len(answer))...)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				var buf [512]byte
				_, _ = conn.Read(buf[:])
				_, _ = conn.Write(answer)
				_ = conn.Close()
			}()
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = l.Close()
	return 0
}

// BenchmarkServerProcess reports the CPU time that a server in a process of its own spends on a page, with a connection
// for each page. The client's CPU time is not in it. The bare server is the floor.
func BenchmarkServerProcess(b *testing.B) {
	for _, kind := range []string{"world", "bare"} {
		b.Run(kind, func(b *testing.B) { benchmarkProcess(b, kind) })
	}
}

func benchmarkProcess(b *testing.B, kind string) {
	w, err := origin.New(simweb.Plain())
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), serverProcess+"="+kind)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err = cmd.Start(); err != nil {
		b.Fatal(err)
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	addr = strings.TrimSpace(addr)
	roots := make([]string, w.Hosts())
	for i := range roots {
		roots[i] = w.Root(i)
	}
	b.ResetTimer()
	var wg sync.WaitGroup
	work := make(chan int, 64)
	var bytes [4]int64
	for k := range bytes {
		wg.Go(func() {
			buf := make([]byte, 64<<10)
			for i := range work {
				bytes[k] += getOnce(b, addr, roots[i%len(roots)], buf)
			}
		})
	}
	for i := range b.N {
		work <- i
	}
	close(work)
	wg.Wait()
	b.StopTimer()
	_ = in.Close()
	if err = cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	b.ReportMetric(float64(cpu)/float64(time.Microsecond)/float64(b.N), "cpu-us/page")
	b.ReportMetric(float64(bytes[0]+bytes[1]+bytes[2]+bytes[3])/float64(b.N), "bytes/page")
}

// getOnce fetches over a new connection, and returns how many bytes came.
func getOnce(b *testing.B, addr, u string, buf []byte) (n int64) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.Error(err)
		return 0
	}
	defer conn.Close()
	_, err = io.WriteString(
		conn,
		"GET "+u+" HTTP/1.1\r\nHost: x\r\nUser-Agent: bench (+x)\r\nConnection: close\r\n\r\n",
	)
	for err == nil {
		var k int
		k, err = conn.Read(buf)
		n += int64(k)
	}
	if err != io.EOF {
		b.Error(err)
	}
	return n
}
