//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"
)

// setting is one way in which all tools are asked to crawl.
type setting struct {
	Name   string        `json:"name"`
	Delay  time.Duration `json:"delay_ns"` // between two requests to a host; 0 is none
	AtOnce int           `json:"at_once"`  // requests at once, of a tool that lets one say so
}

// place is where one crawl finds what it needs and leaves what it makes.
type place struct {
	bin   string // orbweaver
	build string // what install.sh has built
	dir   string // of this crawl, empty
	seeds string // file
	proxy string // URL
}

// tool is a crawler that is compared. What the words say must be what the command does.
type tool struct {
	name    string
	warc    string // what archive it writes
	waits   string // what its delay is between; "" if it has none
	version []string
	command func(p place, s setting) []string
}

// tools lists what is compared. Each command follows every link, obeys robots.txt, and keeps no files but its archive.
func tools(bin, build string) []tool {
	colly := filepath.Join(build, "colly")
	crawlee := filepath.Join(build, "crawlee", "crawl.mjs")
	return []tool{
		{name: "orbweaver", warc: "gzip 1", waits: "requests to a host", version: []string{bin, "version"}, command: orbweaver},
		{name: "wget", warc: "gzip 9", waits: "any two requests", version: []string{"wget", "--version"}, command: wget},
		{name: "wget2", warc: "none", waits: "requests of a thread", version: []string{"wget2", "--version"}, command: wget2},
		{name: "colly", warc: "none", waits: "requests to a host", version: []string{colly, "-version"}, command: collyDriver},
		{name: "crawlee", warc: "none", waits: "requests to a domain", version: []string{"node", crawlee, "--version"}, command: crawleeDriver},
		{name: "scrapy", warc: "none", waits: "requests to a host", version: []string{"scrapy", "version"}, command: scrapy},
	}
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'g', -1, 64) }

func orbweaver(p place, s setting) []string {
	return []string{p.bin, "crawl", "--dir", filepath.Join(p.dir, "crawl"), "--proxy", p.proxy, "--resolver", "hashed:100",
		"--seeds", p.seeds, "--host-delay", s.Delay.String(), "--ip-delay", "0s", "--fetchers", strconv.Itoa(s.AtOnce),
		"--warc-level", "1", "--progress", "none"}
}

// wget takes one after the other, and waits between any two.
func wget(p place, s setting) []string {
	return []string{"wget", "--no-config", "--no-hsts", "--no-verbose", "--output-file=" + filepath.Join(p.dir, "wget.log"),
		"--directory-prefix=" + filepath.Join(p.dir, "files"), "--delete-after", "--recursive", "--level=inf", "--page-requisites",
		"--span-hosts", "--wait=" + seconds(s.Delay), "--warc-file=" + filepath.Join(p.dir, "archive"), "--no-warc-keep-log",
		"--warc-tempdir=" + p.dir, "--input-file=" + p.seeds}
}

func wget2(p place, s setting) []string {
	return []string{"wget2", "--no-config", "--no-hsts", "--quiet", "--progress=none",
		"--directory-prefix=" + filepath.Join(p.dir, "files"), "--delete-after", "--recursive", "--level=0", "--page-requisites",
		"--span-hosts", "--wait=" + seconds(s.Delay), "--max-threads=" + strconv.Itoa(s.AtOnce), "--http-proxy=" + p.proxy,
		"--input-file=" + p.seeds}
}

func collyDriver(p place, s setting) []string {
	return []string{filepath.Join(p.build, "colly"), "-proxy", p.proxy, "-seeds", p.seeds, "-at-once", strconv.Itoa(s.AtOnce),
		"-delay", s.Delay.String()}
}

func crawleeDriver(p place, s setting) []string {
	return []string{"node", filepath.Join(p.build, "crawlee", "crawl.mjs"), p.proxy, p.seeds, strconv.Itoa(s.AtOnce), seconds(s.Delay)}
}

func scrapy(p place, s setting) []string {
	return []string{"scrapy", "runspider", filepath.Join("tools", "others", "scrapy", "spider.py"), "-a", "seeds=" + p.seeds,
		"-s", fmt.Sprintf("CONCURRENT_REQUESTS=%d", s.AtOnce), "-s", "DOWNLOAD_DELAY=" + seconds(s.Delay)}
}
