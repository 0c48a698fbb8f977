package parse

import (
	"fmt"
	"strings"
	"testing"
)

// words returns n bytes of text.
func words(n int) string { return strings.Repeat("silk and thread ", n/16+1)[:n] }

// head returns a head of n bytes.
func head(n int) string {
	return "<!doctype html><html><head><title>T</title><style>" + strings.Repeat("a{b:c}", n/6) +
		"</style></head><body>"
}

const asksReact = "<noscript>You need to enable JavaScript to run this app.</noscript>"

// Pages as the usual tools make them, and those at which published rules of one sign are wrong.
func TestScan_render(t *testing.T) { //nolint:funlen // a table
	for _, c := range []struct {
		what, page string
		want       bool
	}{
		{"Create React App", head(300) + asksReact +
			`<div id="root"></div><script src="/static/js/main.3f2a1b9c.js"></script></body></html>`, true},
		{"Vite", head(100) + `<div id=root> </div><script type="module" src="/assets/index-4sK2x9Qa.js"></script>`, true},
		{"Vite without a build", `<body><div id="app"></div><script type=module src=/src/main.ts></script>`, true},
		{"Vue CLI", head(100) +
			`<noscript><strong>We're sorry but this doesn't work properly without JavaScript enabled. ` +
			`Please enable it to continue.</strong></noscript><div id=app></div>` +
			`<script src=/js/app.8f3c2d1e.js></script>`, true},
		{"Angular", head(100) +
			`<app-root></app-root><script src="main.8f3c2d1e9a0b4c5d.js" type="module"></script>`, true},
		{"Nuxt without a server", head(100) +
			`<div id="__nuxt"></div><script src="/_nuxt/entry.3a4b5c6d.js"></script>`, true},
		{"Next with empty data", head(100) +
			`<div id="__next"></div><script src="/_next/static/chunks/main-0a1b2c3d4e5f.js">` +
			`</script><script id="__NEXT_DATA__" type="application/json">{"props":{"pageProps":{}}}</script>`, true},
		{"Next without data", head(3000) + `<div id="__next"><div class=spin></div></div>` +
			`<script src="/_next/static/chunks/main-0a1b2c3d4e5f.js"></script>`, true},
		{"texts of a menu around an empty place", head(100) + asksReact + "<nav>" + words(700) +
			`</nav><div id="root"></div>` +
			`<script src="/static/js/main.3f2a1b9c.js"></script>`, true},
		{"the login page of an application", head(100) + `<div id="root"></div>` + asksReact +
			`<script src=/m.3f2a1b9c.js></script><script>document.write('<input name=user>')</script>`, true},
		{"a hidden token", head(3000) + asksReact + `<div id=root></div><input type="hidden" name=csrf value=x>`, true},

		{"Vite with a sign of progress", head(100) + `<div id="app"><div class="spin"></div><p>Loading, please wait…</p>` +
			`</div><script type="module" crossorigin src="/assets/index-DiwrgTda.js"></script>`, true},
		{"a sign of progress, and help for people without scripts", head(100) + `<noscript>Please <a ` +
			`href="https://help.test/">enable JavaScript</a>.</noscript><div id="app"><div class="spin"></div></div>` +
			`<script src="/js/app.js"></script>`, true},
		{"Angular with a sign of progress", head(100) + `<app-root><span class=loader>Loading...</span></app-root>` +
			`<script src="main-5KXQBV6T.js" type="module"></script>`, true},
		{"Nuxt without a server, with data", head(100) + `<div id="__nuxt"><svg class=spin></svg></div>` +
			`<script type="application/json" data-nuxt-data="nuxt-app" data-ssr="false" id="__NUXT_DATA__">[{"a":1}]</script>` +
			`<script type="module" src="/_nuxt/BKV2qkRi.js"></script>`, true},
		{"Next with data and nothing to see", head(3000) + `<div id="__next"></div>` +
			`<script src="/_next/static/a-0a1b2c3d.js"></script>` +
			`<script id="__NEXT_DATA__">{"props":{"pageProps":{"text":"x"}}}</script>`, true},
		{"Next's streams without a page", head(3000) + `<!--$!--><template data-dgst="BAILOUT_TO_CLIENT_SIDE_RENDERING">` +
			`</template><p>Loading</p><!--/$--><script src="/_next/static/chunks/main-0a1b2c3d4e5f.js"></script>` +
			`<script>self.__next_f.push([1,"x"])</script>`, true},
		{"SvelteKit without a server", `<link rel="modulepreload" href="/_app/immutable/entry/start.BKV2qkRi.js"></head>` +
			`<body><div style="display: contents"><script>{__sveltekit_1t45w9r = {base: ""}; Promise.all([` +
			`import("/_app/immutable/entry/start.BKV2qkRi.js")]).then(([kit, app]) => {kit.start(app, element);});}</script>` +
			`</div></body>`, true},
		{"Remix without a server", `<link rel=modulepreload href="/assets/entry.client-B3x2kJ9a.js"><p>Loading...</p>` +
			`<script>window.__remixContext = {"isSpaMode":true};</script>`, true},
		{"Gatsby's page of a route without a file", head(3000) + `<noscript id="gatsby-noscript">This app works best with ` +
			`JavaScript enabled.</noscript><div id="___gatsby"></div><script src="/app-3f2a1b9c0d.js"></script>`, true},
		{"an element of its own", head(100) + `<my-shop></my-shop><script src="/main.3f2a1b9c.js"></script>`, true},

		{"React from a server of today, with the noscript of its template", head(3000) + asksReact +
			`<div id="root"><h1>Hello</h1><a href=/a>A</a><p>` + words(250) + `</p></div>` +
			`<script src="/static/js/main.3f2a1b9c.js"></script>`, false},
		{"Gatsby with little text", head(3000) + `<noscript id="gatsby-noscript">This app works best with JavaScript ` +
			`enabled.</noscript><div id="___gatsby"><a href=/>Home</a><p>` + words(150) + `</p></div>` +
			`<script src="/app-3f2a1b9c0d.js"></script>`, false},
		{"comments at the end of a short page", head(3000) + `<a href=/>Home</a><p>` + words(150) +
			`<noscript>Please enable JavaScript to view the <a href="//disqus.test/">comments powered by Disqus.</a>` +
			`</noscript><script src="/js/theme.3f2a1b9c.js"></script>`, false},
		{"a form of WordPress", head(3000) + `<p>` + words(150) + `<noscript>Please enable JavaScript in your browser to ` +
			`complete this form.</noscript><script src="/wp-includes/js/a.3f2a1b9c.js"></script>`, false},
		{"Nuxt with few words", head(3000) + `<div id="__nuxt"><h1>Hello</h1></div><script id="__NUXT_DATA__" ` +
			`data-ssr="true">[1]</script><script src="/_nuxt/entry.3a4b5c6d.js"></script>`, false},
		{"SvelteKit with few words", head(3000) + `<div style="display: contents"><h1>Hello</h1><script>import(` +
			`"/_app/a.BKV2qkR1.js").then(([kit, app]) => {kit.start(app, element, { node_ids: [0, 2] });});</script></div>` +
			`<link rel=modulepreload href=/_app/a.BKV2qkR1.js>`, false},
		{"Angular with few words", head(3000) + `<app-root ng-version="19.2.5" ng-server-context="ssr"><h1>Hello</h1>` +
			`</app-root><script src="main-5KXQBV6T.js" type="module"></script>`, false},
		{"Docusaurus", head(3000) + `<div id="__docusaurus"><a href=/docs>Docs</a><main>` + words(180) +
			`</main></div><script src="/assets/js/main.3f2a1b9c.js"></script>`, false},
		{"Next with data", head(100) + `<div id="__next"><main>` + words(300) +
			`</main></div><script src="/_next/static/a-0a1b2c3d.js">` +
			`</script><script id="__NEXT_DATA__">{"props":{"pageProps":{"text":"x"}}}</script>`, false},
		{"Next with data and little text", head(3000) +
			`<div id="__next"><h1>Hello</h1></div><script src="/_next/static/a-0a1b2c3d.js">` +
			`</script><script id="__NEXT_DATA__">{"props":{"pageProps":{"text":"x"}}}</script>`, false},
		{"Next's streams", head(3000) +
			`<h1>Hello</h1><script src="/_next/static/chunks/main-0a1b2c3d4e5f.js"></script>` +
			`<script>self.__next_f.push([1,"x"])</script>`, false},
		{"React from a server, with the noscript of its template", head(3000) + asksReact +
			`<div id="root" data-reactroot>` +
			words(350) + `</div><script src="/static/js/main.3f2a1b9c.js"></script>`, false},
		{"Gatsby", head(3000) +
			`<noscript>This app works best with JavaScript enabled.</noscript><div id="___gatsby">` +
			words(500) + `</div><script src="/app-3f2a1b9c0d.js"></script>`, false},
		{"Angular from a server", head(100) + `<app-root ng-version="17.1.0"><p>` + words(500) + `</p></app-root>` +
			`<script src="main.8f3c2d1e9a0b4c5d.js"></script>`, false},
		{"Astro islands", head(3000) + "<p>" + words(120) + `<astro-island client="only"></astro-island>` +
			`<script src="/_astro/client.3f2a1b9c.js"></script>`, false},
		{"a login page of a server", head(3000) +
			`<noscript>Please enable JavaScript to log in.</noscript><form method=post>` +
			`<input name=user><input type=password></form><script src="/m.3f2a1b9c.js"></script>`, false},
		{"a widget beside the text", head(100) + words(900) +
			`<div id="app"></div><script src="/w.3f2a1b9c.js"></script>`, false},
		{"a counter's pixel", head(3000) +
			`<noscript><img src="//t.example/?javascript=required&enable=1"></noscript><p>Hi`, false},
		{"a sparse page", head(3000) + "<p>Under construction", false},
		{"pictures", head(3000) + strings.Repeat("<img src=a.jpg>", 50), false},
		{"frames", "<frameset cols=2><frame src=a><frame src=b></frameset>", false},
		{"a plain old page", "<HTML><BODY><H1>Webs</H1><P>" + words(3000), false},
		{"markup in a script, a comment and a template", head(3000) + `<script>x = '<div id="root"></div>'</script>` +
			`<!-- <div id=root></div> --><template><div id=root></div></template><p>` + words(150), false},
		{"another media type", asksReact + "<div id=root></div>", false},
		{"nothing", "", false},
	} {
		media := "text/html; charset=utf-8"
		if c.what == "another media type" {
			media = "application/xml"
		}
		for _, o := range []Options{{}, {Text: true, Details: true}, {Speculative: true}} {
			r, err := NewScanner(o).Scan([]byte(c.page), []byte(media))
			if got := r.Render >= RenderLeast; got != c.want || err != nil {
				t.Errorf("%s: %d (%v)", c.what, r.Render, err)
			}
		}
	}
}

// For the signs a scanner that was used before allocates nothing, whatever the page is.
func TestScan_renderAllocatesNothing(t *testing.T) {
	s := NewScanner(Options{})
	for _, page := range [][]byte{typicalPage(), []byte(asksReact + "<div id=root></div>" + head(3000))} {
		if n := testing.AllocsPerRun(20, func() { _, _ = s.Scan(page, []byte("text/html")) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

// FuzzRender: no bytes panic, the number is in its range, and it does not depend on what was scanned before or on what
// else is asked of the page.
func FuzzRender(f *testing.F) {
	for _, page := range []string{
		asksReact + "<div id=root></div>", "<noscript>javascript<noscript>enable", "<div id='app'\n/ x=\"></div>\"></div",
		"<app-root ng-version></app-root>",
		`/_next/static/ __NEXT_DATA__ "pageProps":{}`, "<script src=/a.0123abcd.chunk.js>",
		"<template><div id=app></div>", "<iframe srcdoc='<div id=app></div>'>", "<!--[if IE]><div id=app></div><![endif]-->",
	} {
		f.Add([]byte(page))
	}
	used := NewScanner(Options{Text: true, Details: true, Speculative: true})
	f.Fuzz(func(t *testing.T, page []byte) {
		plain, _ := NewScanner(Options{}).Scan(page, []byte("text/html; charset=utf-8"))
		full, _ := used.Scan(page, []byte("text/html; charset=utf-8"))
		if plain.Render < 0 || plain.Render > renderMost {
			t.Errorf("%d", plain.Render)
		}
		if plain.LinksDropped+full.LinksDropped == 0 && plain.Render != full.Render {
			t.Errorf("%d and %d", plain.Render, full.Render)
		}
	})
}

// BenchmarkRender measures what the signs cost of a page of dense markup without any, and of one with all of them.
func BenchmarkRender(b *testing.B) {
	var dense strings.Builder
	for i := range 400 {
		fmt.Fprintf(&dense, "<div class=\"n%d\">\n    <span title='t'></span>\n  </div>\n", i)
	}
	for name, page := range map[string]string{
		"typical": string(typicalPage()), "noText": dense.String(),
		"client": head(3000) + asksReact + `<div id="root"></div><script src="/static/js/main.3f2a1b9c.js"></script>`,
	} {
		b.Run(name, func(b *testing.B) {
			s := NewScanner(Options{})
			for b.Loop() {
				_, _ = s.Scan([]byte(page), []byte("text/html; charset=utf-8"))
			}
		})
	}
}
