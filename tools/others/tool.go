//go:build linux

package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// setting is one way in which all tools are asked to crawl.
type setting struct {
	Name   string        `json:"name"`
	Odd    bool          `json:"odd"`      // a web whose links are written in every way that the standards allow
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
	once    bool // takes part in the first round only
}

// tools lists what is compared. Each command follows every link, and obeys robots.txt if it can.
// It keeps no files but its archive, except httrack.
func tools(bin, build string) []tool {
	ours := []string{bin, "version"}
	colly := filepath.Join(build, "colly")
	crawlee := filepath.Join(build, "crawlee", "crawl.mjs")
	return []tool{
		{
			name:    "orbweaver",
			warc:    "gzip 1",
			waits:   "requests to a host",
			version: ours,
			command: orbweaver("--warc-level", "1"),
		},
		{
			name:    "orbweaver -9",
			warc:    "gzip 9",
			waits:   "requests to a host",
			version: ours,
			command: orbweaver("--warc-level", "9"),
			once:    true,
		},
		{
			name:    "orbweaver -0",
			warc:    "none",
			waits:   "requests to a host",
			version: ours,
			command: orbweaver("--store", "none"),
			once:    true,
		},
		{
			name:    "wget",
			warc:    "gzip 9",
			waits:   "any two requests",
			version: []string{"wget", "--version"},
			command: wget,
		},
		withoutArchive("wget2", "requests of a thread", wget2, "wget2", "--version"),
		withoutArchive("httrack", "any two requests", httrack, "httrack", "--version"),
		{
			name:    "zeno",
			warc:    "gzip 6",
			waits:   "requests to a host",
			version: module("Zeno"),
			command: zeno,
		},
		withoutArchive("katana", "any two requests", katana, module("katana")...),
		withoutArchive("colly", "requests to a host", collyDriver, colly, "-version"),
		withoutArchive("crawlee", "requests to a domain", crawleeDriver, "node", crawlee, "--version"),
		withoutArchive("scrapy", "requests to a host", scrapy, "scrapy", "version"),
	}
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'g', -1, 64) }

// orbweaver takes one at once from a host, and from an address, in any case.
func orbweaver(archive ...string) func(place, setting) []string {
	return func(p place, s setting) []string {
		return append([]string{
			p.bin, "crawl",
			"--dir", filepath.Join(p.dir, "crawl"),
			"--scope", "all",
			"--proxy", p.proxy,
			"--resolver", "hashed:100",
			"--seeds", p.seeds,
			"--host-delay", s.Delay.String(),
			"--ip-delay", "0s",
			"--fetchers", strconv.Itoa(s.AtOnce),
			"--progress", "none",
		}, archive...)
	}
}

// wget takes one after the other, and waits between any two.
func wget(p place, s setting) []string {
	return []string{
		"wget", "--no-config", "--no-hsts", "--no-verbose",
		"--output-file=" + filepath.Join(p.dir, "wget.log"),
		"--directory-prefix=" + filepath.Join(p.dir, "files"),
		"--delete-after",
		"--recursive",
		"--level=inf",
		"--page-requisites",
		"--span-hosts",
		"--wait=" + seconds(s.Delay),
		"--warc-file=" + filepath.Join(p.dir, "archive"),
		"--no-warc-keep-log",
		"--warc-tempdir=" + p.dir,
		"--input-file=" + p.seeds,
	}
}

func wget2(p place, s setting) []string {
	return []string{"wget2", "--no-config", "--no-hsts", "--quiet", "--progress=none",
		"--directory-prefix=" + filepath.Join(p.dir, "files"),
		"--delete-after", "--recursive", "--level=0", "--page-requisites",
		"--span-hosts", "--wait=" + seconds(s.Delay), "--max-threads=" + strconv.Itoa(s.AtOnce), "--http-proxy=" + p.proxy,
		"--input-file=" + p.seeds}
}

func withoutArchive(name, waits string, command func(place, setting) []string, version ...string) tool {
	return tool{
		name:    name,
		warc:    "none",
		waits:   waits,
		version: version,
		command: command,
	}
}

// module asks for the Go module, and its version, that a program on PATH was built from.
func module(program string) []string {
	return []string{"sh", "-c", `go version -m "$(command -v ` + program + `)" | sed -n 's/^\tmod\t//p' | grep .`}
}

// perSecond is the rate of requests that corresponds to a delay; unlimited if there is none.
func perSecond(delay time.Duration, unlimited string) string {
	if delay == 0 {
		return unlimited
	}
	return strconv.Itoa(int(time.Second / delay))
}

// httrack keeps what it fetches as files: with -p0 it omits images and documents. -%c is connections per second.
func httrack(p place, s setting) []string {
	return []string{"httrack", "-%L", p.seeds, "-O", filepath.Join(p.dir, "files"),
		"-P", strings.TrimPrefix(p.proxy, "http://"), "-q", "-C0", "-I0", "-%!", "-A0",
		"-c" + strconv.Itoa(s.AtOnce), "-%c" + perSecond(s.Delay, "0"),
		"-s2", "-e", "-B", "-n", "-%u0", "-K4", "-r99999", "-#L10000000"}
}

// zeno knows no HTTP proxy: it resolves names, and connects to the addresses. It has no setting for robots.txt.
func zeno(p place, s setting) []string {
	rate := "--disable-rate-limit"
	if s.Delay > 0 {
		rate = "--rate-limit-capacity=1 --rate-limit-refill-rate=" + perSecond(s.Delay, "")
	}
	return []string{"sh", "-c", `seeds=$(cat "$1") && cd "$2" && exec Zeno get url $seeds --job=crawl --workers="$3" \
		--max-hops=100000 --min-space-required=0.1 --no-log-file --log-level=error --disable-ipv6 $4`,
		"zeno", p.seeds, p.dir, strconv.Itoa(s.AtOnce), rate}
}

// katana has no setting for robots.txt.
func katana(p place, s setting) []string {
	return []string{"katana", "-list", p.seeds, "-proxy", p.proxy, "-no-scope", "-depth", "100000",
		"-concurrency", strconv.Itoa(s.AtOnce), "-rate-limit", perSecond(s.Delay, "1000000"), "-no-default-ext-filter",
		"-disable-update-check", "-silent"}
}

func collyDriver(p place, s setting) []string {
	return []string{filepath.Join(p.build, "colly"), "-proxy", p.proxy, "-seeds", p.seeds,
		"-at-once", strconv.Itoa(s.AtOnce), "-delay", s.Delay.String()}
}

func crawleeDriver(p place, s setting) []string {
	script := filepath.Join(p.build, "crawlee", "crawl.mjs")
	return []string{"node", script, p.proxy, p.seeds, strconv.Itoa(s.AtOnce), seconds(s.Delay)}
}

func scrapy(p place, s setting) []string {
	perHost := "8" // its default
	if s.Delay > 0 {
		perHost = "1" // its delay alone is between beginnings
	}
	return []string{
		"scrapy", "runspider", filepath.Join("tools", "others", "scrapy", "spider.py"),
		"-a", "seeds=" + p.seeds,
		"-s", "CONCURRENT_REQUESTS=" + strconv.Itoa(s.AtOnce),
		"-s", "CONCURRENT_REQUESTS_PER_DOMAIN=" + perHost,
		"-s", "DOWNLOAD_DELAY=" + seconds(s.Delay),
	}
}
