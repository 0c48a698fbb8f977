package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// temptation is a page that makes a browser contact a server. FOREIGN is the name of the server.
type temptation struct {
	kind string // Content-Type; "" for HTML
	head string // further fields
	body string
}

// inHTML returns temptations in HTML.
func inHTML(bodies ...string) (all []temptation) {
	for _, body := range bodies {
		all = append(all, temptation{body: body})
	}
	return all
}

// temptations are the ways to make a browser contact a server that we know.
func temptations() []temptation {
	return slices.Concat(linkTemptations(), frameTemptations(), embeddedTemptations(), scriptTemptations(), otherTypes(),
		headTemptations())
}

// tooLong makes a reference longer than any URL may be.
func tooLong() string { return strings.Repeat("x", 70_000) }

// linkTemptations are links, and elements around them which browsers read in another way than readers of tags.
func linkTemptations() []temptation {
	return inHTML(
		`<link rel=preconnect href=//FOREIGN>`, `<link rel=dns-prefetch href=//FOREIGN>`,
		`<link rel=prefetch href=//FOREIGN/a>`, `<link rel=preload as=image href=//FOREIGN/a>`,
		`<link rel=modulepreload href=//FOREIGN/a>`, `<link rel=prerender href=//FOREIGN/a>`,
		`<link rel="stylesheet preconnect" href=//FOREIGN/a>`, `<link rel=manifest href=//FOREIGN/a>`,
		`<link rel=icon href=//FOREIGN/a>`, `<link rel="shortcut icon" href="&#9;//FOREIGN/a">`,
		`<link rel=preload as=image imagesrcset="//FOREIGN/a 1x">`, `<link rel=compression-dictionary href=//FOREIGN/a>`,
		`<link rel=preconnect href="//FOREIGN/`+tooLong()+`">`, `<link rel=stylesheet href=//FOREIGN/a>`,
		`<link rel="&#112;reconnect" href=//FOREIGN>`, `<LINK REL=PRECONNECT HREF=HTTP:\\FOREIGN>`,
		`<noscript><link rel=preconnect href=//FOREIGN></noscript>`, `<a href=//FOREIGN>x</a>`,
		`<svg><style><p><link rel=preconnect href=//FOREIGN></style></svg>`,
		`<svg><title><link rel=preconnect href=//FOREIGN></title></svg>`,
		`<svg><script><p><link rel=preconnect href=//FOREIGN></script></svg>`,
		`<math><style><p><link rel=preconnect href=//FOREIGN></style></math>`,
		`<math><mtext><style><!--</style><link rel=preconnect href=//FOREIGN>--></mtext></math>`,
		`<svg><![CDATA[><link rel=preconnect href=//FOREIGN>]]></svg>`,
		`<svg><desc><noscript><link rel=preconnect href=//FOREIGN></noscript></desc></svg>`,
		`<select><style><link rel=preconnect href=//FOREIGN></style></select>`,
		`<table><noframes></table><link rel=preconnect href=//FOREIGN></noframes>`,
		`<svg><iframe><p><link rel=preconnect href=//FOREIGN></iframe></svg>`,
		`<svg><textarea><p><link rel=preconnect href=//FOREIGN></textarea></svg>`,
		`<svg><xmp><p><link rel=preconnect href=//FOREIGN></xmp></svg>`,
		`<svg><plaintext><p><link rel=preconnect href=//FOREIGN>`,
		`<!--><link rel=preconnect href=//FOREIGN>-->`, `<!-- --!><link rel=preconnect href=//FOREIGN>-->`,
		`<p title="</style><link rel=preconnect href=//FOREIGN>"><style><p title='`,
		`<template shadowrootmode=open></template><div>`+
			`<template shadowrootmode=open><link rel=preconnect href=//FOREIGN>`,
	)
}

// frameTemptations are pages in pages.
func frameTemptations() []temptation {
	return inHTML(
		`<iframe srcdoc="<link rel=preconnect href=//FOREIGN>"></iframe>`,
		`<iframe srcdoc="&lt;noscript>&lt;link rel=preconnect href=http://FOREIGN>"></iframe>`,
		`<iframe src="data:text/html,<link rel=preconnect href=http://FOREIGN>"></iframe>`,
		`<object data="data:text/html,<link rel=preconnect href=http://FOREIGN>"></object>`,
		`<embed src="data:text/html,<link rel=preconnect href=http://FOREIGN>" type=text/html>`,
		`<iframe src="javascript:'<link rel=preconnect href=http://FOREIGN>'"></iframe>`,
		`<iframe src=//FOREIGN/a></iframe>`, `<iframe src="//FOREIGN/`+tooLong()+`"></iframe>`,
		`<frameset><frame src=//FOREIGN/a></frameset>`, `<object data=//FOREIGN/a></object>`, `<embed src=//FOREIGN/a>`,
		`<object type=application/pdf><param name=src value=//FOREIGN/a></object>`,
		`<applet code=a codebase=//FOREIGN></applet>`, `<portal src=//FOREIGN/a></portal>`,
		`<fencedframe src=//FOREIGN/a></fencedframe>`, `<meta http-equiv=refresh content="0;url=//FOREIGN/a">`,
		`<meta http-equiv=refresh content="0;url=http://FOREIGN/`+tooLong()+`">`,
		`<meta http-equiv=Content-Security-Policy content="img-src 'none'; report-uri //FOREIGN/a"><img src=x>`,
		`<meta http-equiv=x-dns-prefetch-control content=on><a href=http://FOREIGN/`+tooLong()+`>x</a>`,
		`<meta http-equiv=link content="<//FOREIGN>; rel=preconnect">`,
	)
}

// embeddedTemptations are images, films and style sheets.
func embeddedTemptations() []temptation {
	return inHTML(
		`<img src=//FOREIGN/a>`, `<img srcset="//FOREIGN/a 1x">`, `<img src="//FOREIGN/`+tooLong()+`">`,
		`<img attributionsrc=//FOREIGN/a src=x>`, `<picture><source srcset=//FOREIGN/a><img></picture>`,
		`<video poster=//FOREIGN/a></video>`, `<video src=//FOREIGN/a autoplay muted></video>`,
		`<video autoplay muted><source src=//FOREIGN/a><track default src=//FOREIGN/b></video>`,
		`<audio src=//FOREIGN/a autoplay></audio>`, `<input type=image src=//FOREIGN/a>`, `<body background=//FOREIGN/a>`,
		`<svg><image href=//FOREIGN/a /></svg>`, `<svg><use xlink:href="//FOREIGN/a#b"/></svg>`,
		`<svg><filter id=f><feImage href=//FOREIGN/a /></filter><rect filter=url(#f) width=9 height=9 /></svg>`,
		`<svg><image href=x><set attributeName=href to=//FOREIGN/a /></image></svg>`,
		`<svg><rect width=9 height=9 fill="url(//FOREIGN/a#b)"/></svg>`,
		`<p style="background:url(//FOREIGN/a)">x`, `<p style="background:\75rl(//FOREIGN/a)">x`,
		`<style>@import "//FOREIGN/a";</style>`, `<style>@import url(//FOREIGN/a);</style>`,
		`<style>@font-face{font-family:f;src:url(//FOREIGN/a)} body{font-family:f}</style>x`,
		`<style>p{background:image-set("//FOREIGN/a" 1x)}</style><p>x`,
		`<style>p{mask:url(//FOREIGN/a#b);cursor:url(//FOREIGN/c),auto}</style><p>x`,
		`<style>p::before{content:url(//FOREIGN/a)}</style><p>x`,
		`<base href=//FOREIGN/><img src=a><link rel=preconnect href=/>`,
	)
}

// scriptTemptations are scripts.
func scriptTemptations() []temptation {
	return inHTML(
		`<script src=//FOREIGN/a></script>`, `<script>fetch('//FOREIGN/a')</script>`,
		`<script>navigator.sendBeacon('//FOREIGN/a')</script>`, `<script>new WebSocket('ws://FOREIGN/a')</script>`,
		`<script>new EventSource('//FOREIGN/a')</script>`, `<script>location = '//FOREIGN/a'</script>`,
		`<script>open('//FOREIGN/a')</script>`, `<script>new Image().src = '//FOREIGN/a'</script>`,
		`<script>new RTCPeerConnection({iceServers:[{urls:'stun:FOREIGN'}]}).createDataChannel('x')</script>`,
		`<script>new WebTransport('https://FOREIGN/a')</script>`, `<script>import('//FOREIGN/a')</script>`,
		`<script type=module>import '//FOREIGN/a'</script>`, `<body onload="fetch('//FOREIGN/a')">`,
		`<script>new Worker(URL.createObjectURL(new Blob(["importScripts('http://FOREIGN/a')"])))</script>`,
		`<script>new SharedWorker("data:text/javascript,importScripts('http://FOREIGN/a')")</script>`,
		`<script type=speculationrules>{"prefetch":[{"urls":["//FOREIGN/a"]}]}</script>`,
		`<script type=importmap>{"imports":{"a":"//FOREIGN/a"}}</script><script type=module>import 'a'</script>`,
		`<form id=f action=//FOREIGN/a></form><img src=x onerror="f.submit()">`,
		`<details ontoggle=fetch('//FOREIGN/a') open>`,
	)
}

// otherTypes are payloads of other types than HTML, or that are not called HTML.
func otherTypes() []temptation {
	xml := func(kind, body string) temptation { return temptation{kind: kind, body: body} }
	const inXHTML = `<link xmlns="http://www.w3.org/1999/xhtml" rel="preconnect" href="http://FOREIGN"/>`
	return []temptation{
		xml("application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml"><script/><head>`+inXHTML+`</head></html>`),
		xml("image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg">`+inXHTML+`<image href="http://FOREIGN/a"/></svg>`),
		xml("application/xml", `<a>`+inXHTML+`</a>`), xml("text/xml", `<a>`+inXHTML+`</a>`), xml("", inXHTML),
		xml("application/rss+xml", `<a>`+inXHTML+`</a>`), xml("text/html, text/html", inXHTML), xml("TEXT/HTML;x", inXHTML),
		xml("text/xml", `<?xml-stylesheet href="http://FOREIGN/a" type="text/xsl"?><a/>`),
		xml("text/xml", `<?xml-stylesheet href="http://FOREIGN/a" type="text/css"?><a/>`),
		xml("text/xml", `<!DOCTYPE a SYSTEM "http://FOREIGN/a" [<!ENTITY b SYSTEM "http://FOREIGN/b">]><a>&b;</a>`),
		xml("text/xml", `<?xml-stylesheet href="#s" type="text/xsl"?><x:stylesheet id="s" version="1.0" `+
			`xmlns:x="http://www.w3.org/1999/XSL/Transform"><x:import href="http://FOREIGN/a"/></x:stylesheet>`),
		xml("multipart/related; boundary=b", "--b\r\nContent-Type: text/html\r\n\r\n"+inXHTML+"\r\n--b--"),
		xml("multipart/x-mixed-replace; boundary=b", "--b\r\nContent-Type: text/html\r\n\r\n"+inXHTML+"\r\n--b--"),
		xml("message/rfc822", "MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n"+inXHTML),
		xml("application/vnd.apple.mpegurl", "#EXTM3U\n#EXTINF:9,\nhttp://FOREIGN/a.ts\n"),
		xml("text/plain", `<html>`+inXHTML), xml("application/x-nothing", `<html>`+inXHTML),
		xml("application/pdf", pdf), xml("application/json", `{"a":"http://FOREIGN/a"}`),
		xml("text/html; charset=utf-16be", wide(inXHTML)), xml("text/html; charset=iso-2022-kr", inXHTML),
	}
}

// headTemptations are fields of a response.
func headTemptations() []temptation {
	return []temptation{
		{head: "Link: <http://FOREIGN>; rel=preconnect\r\n", body: "x"},
		{head: "Refresh: 0; url=http://FOREIGN/a\r\n", body: "x"},
		{head: "Alt-Svc: h2=\"FOREIGN:443\"\r\n", body: "<img src=x>"},
		{head: "Report-To: {\"max_age\":9,\"endpoints\":[{\"url\":\"https://FOREIGN/\"}]}\r\n" +
			"NEL: {\"report_to\":\"default\",\"max_age\":9,\"success_fraction\":1}\r\n", body: "<img src=x>"},
		{head: "Content-Security-Policy: img-src 'none'; report-uri http://FOREIGN/a\r\n", body: "<img src=x>"},
		{head: "X-DNS-Prefetch-Control: on\r\nSpeculation-Rules: \"http://FOREIGN/a\"\r\n", body: "x"},
		{head: "Set-Login: x\r\nSourceMap: http://FOREIGN/a\r\n", body: "<style>p{}</style>"},
	}
}

// pdf is a document that a reader should send somewhere when it is opened.
const pdf = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/URI/URI(http://FOREIGN/a)>>" +
	"/AA<</O<</S/JavaScript/JS(this.submitForm\\('http://FOREIGN/b'\\))>>>>>>endobj\n" +
	"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
	"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"

// wide returns a text in UTF-16.
func wide(text string) string {
	var out strings.Builder
	for _, c := range []byte(text) {
		out.WriteString("\x00" + string(rune(c)))
	}
	return out.String()
}

// outside is a network where each name is that of one foreign server. It is that of a namespace: see tools/viewcheck.
type outside struct {
	mu    sync.Mutex
	asked map[string]bool // names of foreign servers; guarded by mu
}

// ServeDNS answers that each name is here, and notes it.
func (s *outside) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	m := new(dns.Msg)
	m.SetReply(q)
	for _, question := range q.Question {
		s.note(question.Name)
		if question.Qtype == dns.TypeA {
			m.Answer = append(m.Answer, &dns.A{
				Hdr: dns.RR_Header{Name: question.Name, Rrtype: dns.TypeA, Class: dns.ClassINET},
				A:   net.IPv4(127, 0, 0, 53),
			})
		}
	}
	_ = w.WriteMsg(m) // the browser may be gone
}

func (s *outside) note(name string) {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if kind, ok := strings.CutSuffix(name, ".foreign.test"); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked[kind] = true
	}
}

// names returns the names that were asked for, and forgets them.
func (s *outside) names() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.asked {
		names = append(names, name)
	}
	clear(s.asked)
	slices.Sort(names)
	return names
}

// openOutside serves DNS, and a web of one server.
func openOutside(t *testing.T) *outside {
	t.Helper()
	s := &outside{asked: map[string]bool{}}
	packets, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:53")
	if err != nil {
		t.Fatal(err)
	}
	names := &dns.Server{PacketConn: packets, Handler: s}
	web, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.53:80")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute}
	var group sync.WaitGroup
	group.Go(func() { _ = names.ActivateAndServe() }) // it ends by Shutdown
	group.Go(func() { _ = server.Serve(web) })        // as above
	t.Cleanup(func() {
		if err := errors.Join(names.Shutdown(), server.Close()); err != nil {
			t.Error(err)
		}
		group.Wait()
	})
	return s
}

// lookTime is how long a browser has for a page.
const lookTime = 5 * time.Second

// look opens pages in a browser without a window, and ends it after a while, which begins when they are loaded.
func look(t *testing.T, addresses []string, isLoaded func() bool) {
	t.Helper()
	name, dir := os.Getenv("VIEW_BROWSER"), t.TempDir()
	args := []string{
		"--headless=new", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + dir, "--remote-debugging-port=0",
		"--no-first-run", "--autoplay-policy=no-user-gesture-required", "about:blank",
	}
	isFirefox := strings.Contains(name, "firefox")
	if isFirefox {
		prefs := `user_pref("browser.shell.checkDefaultBrowser", false); user_pref("network.trr.mode", 5);
user_pref("browser.sessionstore.resume_from_crash", false); user_pref("media.autoplay.default", 0);`
		if err := os.WriteFile(filepath.Join(dir, "user.js"), []byte(prefs), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append([]string{"--headless", "--no-remote", "--profile", dir}, addresses...)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "HOME="+dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill() // its end is waited for
		_ = cmd.Wait()
	}()
	wait := func(most time.Duration) {
		for end := time.Now().Add(most); !isLoaded() && time.Now().Before(end); {
			time.Sleep(lookTime / 50)
		}
		time.Sleep(lookTime)
	}
	if isFirefox {
		wait(10 * lookTime)
		time.Sleep(2 * lookTime)
		return
	}
	port := ""
	for port == "" && ctx.Err() == nil {
		b, _ := os.ReadFile(filepath.Join(dir, "DevToolsActivePort"))
		port, _, _ = strings.Cut(string(b), "\n")
		time.Sleep(lookTime / 50)
	}
	for _, address := range addresses {
		r, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://127.0.0.1:"+port+"/json/new?"+
			url.QueryEscape(address), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("%v\n%s", err, errs.String())
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	wait(40 * lookTime)
}

// isOpened says that pages are loaded as soon as they are opened.
func isOpened() bool { return true }

// tempting returns all temptations, what makes their pages, and an archive of these.
func tempting(t *testing.T) (all []temptation, page func(i int) (head, body string), h http.Handler) {
	t.Helper()
	all = temptations()
	page = func(i int) (head, body string) {
		name := fmt.Sprintf("k%d.foreign.test", i)
		put := strings.NewReplacer("FOREIGN", name, "\x00F\x00O\x00R\x00E\x00I\x00G\x00N", wide(name)).Replace
		kind := all[i].kind
		if kind == "" {
			kind = "text/html"
		}
		return "Content-Type: " + kind + "\r\n" + put(all[i].head), put(all[i].body)
	}
	s, h := emptyArchive(t)
	for i := range all {
		head, body := page(i)
		s.page(fmt.Sprintf("http://site.test/%d", i), "200 OK\r\n"+strings.TrimSuffix(head, "\r\n"), body)
	}
	return all, page, h
}

// Pages with all that makes a browser contact a server are opened, as orbweaver view shows them, and as they were. As
// they were, most of them make it contact a foreign server. As they are shown, none does, not even a name server.
func TestBrowser_contactsNoForeignServer(t *testing.T) {
	if os.Getenv("VIEW_OUTSIDE") == "" {
		t.Skip("VIEW_OUTSIDE: make accept NAME=view opens a namespace for it")
	}
	all, page, h := tempting(t)
	shown := httptest.NewServer(h)
	defer shown.Close()
	asItWas := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var i int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &i); err != nil || i >= len(all) {
			http.NotFound(w, r)
			return
		}
		head, body := page(i)
		for line := range strings.Lines(head) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			w.Header().Set(name, value)
		}
		_, _ = io.WriteString(w, body) // the browser may be gone
	}))
	defer asItWas.Close()
	foreign := openOutside(t)
	const atOnce = 30
	for from := 0; from < len(all); from += atOnce {
		var plain, ours []string
		for i := from; i < min(from+atOnce, len(all)); i++ {
			plain = append(plain, fmt.Sprintf("%s/%d", asItWas.URL, i))
			ours = append(ours, fmt.Sprintf("%s/20260102030405/http://site.test/%d", shown.URL, i))
		}
		look(t, ours, isOpened)
		for _, name := range foreign.names() {
			var i int
			_, _ = fmt.Sscanf(name, "k%d", &i) // it is one of ours
			t.Errorf("%s contacts a foreign server: %q %.300s", os.Getenv("VIEW_BROWSER"), all[i].kind, all[i].body)
		}
		look(t, plain, isOpened)
		if names := foreign.names(); len(names) == 0 {
			t.Error("no page contacts a foreign server as it was: nothing was tried")
		} else {
			t.Logf("%d of %d pages contact a foreign server as they were: %v", len(names), len(plain), names)
		}
	}
}
