// Command crawl has colly follow every link from the seeds through a proxy: the driver of a comparison, see
// tools/others.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/gocolly/colly/v2"
)

// linked are the elements whose references are followed, the same for all drivers.
const linked = "a[href], area[href], link[href], img[src], iframe[src], embed[src], img[srcset]"

func main() {
	proxy := flag.String("proxy", "", "HTTP proxy that carries all requests")
	seeds := flag.String("seeds", "", "file of seeds, one a line")
	atOnce := flag.Int("at-once", 16, "requests at once")
	delay := flag.Duration("delay", 0, "wait between two requests to a host, one at once then")
	version := flag.Bool("version", false, "print colly's version and end")
	flag.Parse()
	if *version {
		fmt.Println("colly", collyVersion())
		return
	}
	if err := crawl(*proxy, *seeds, *atOnce, *delay); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func crawl(proxy, seeds string, atOnce int, delay time.Duration) error {
	c := colly.NewCollector(colly.Async(true))
	c.IgnoreRobotsTxt = false
	if err := c.SetProxy(proxy); err != nil {
		return err
	}
	if delay == 0 {
		if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: atOnce}); err != nil {
			return err
		}
	} else {
		// A rule is one queue for all hosts that match, so a delay for each host takes a rule for each, made when it
		// comes.
		var known sync.Map
		c.OnRequest(func(r *colly.Request) {
			if _, found := known.LoadOrStore(r.URL.Host, true); !found {
				if err := c.Limit(&colly.LimitRule{DomainGlob: r.URL.Host, Parallelism: 1, Delay: delay}); err != nil {
					r.Abort()
				}
			}
		})
	}
	c.OnHTML(linked, func(e *colly.HTMLElement) {
		for _, ref := range []string{e.Attr("href"), e.Attr("src")} {
			if ref != "" {
				_ = e.Request.Visit(ref) // it says which URLs are known, denied, or none
			}
		}
		for candidate := range strings.SplitSeq(e.Attr("srcset"), ",") {
			if ref := strings.Fields(candidate); len(ref) > 0 {
				_ = e.Request.Visit(ref[0])
			}
		}
	})
	f, err := os.Open(seeds)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if err := c.Visit(lines.Text()); err != nil {
			return err
		}
	}
	c.Wait()
	return lines.Err()
}

func collyVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/gocolly/colly/v2" {
			return m.Version
		}
	}
	return "unknown"
}
