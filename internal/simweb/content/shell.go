package content

import (
	"strconv"
	"strings"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/corpus"
	"orbweaver/internal/simweb/draw"
)

// tool is what a tool writes. In its texts @b is the path of its script, @d is data, and @t is the title of the page.
type tool struct {
	shell         string // the body of a page that a browser must draw
	before, after string // what stands around the text and the links of a page from the server
}

const (
	asksReact = `<noscript>You need to enable JavaScript to run this app.</noscript>`
	heading   = "<h1>@t</h1>\n<p>Opening hours, prices and news of our shops</p>\n"
	nextData  = `<script src="@b" defer=""></script><script id="__NEXT_DATA__" type="application/json">` +
		`{"props":{"pageProps":{"title":"@t","text":"@d"}},"query":{},"buildId":"b1"}</script>`
	nextStream = `<script src="@b" async=""></script><script>(self.__next_f=self.__next_f||[]).push([0])</script>` +
		`<script>self.__next_f.push([1,"0:{\"text\":\"@d\"}\n"])</script>`
	nuxtData = `>[{"text":1},"@d"]</script><script type="module" src="@b" crossorigin></script>`
	svelte   = `<script>{ __sveltekit_1t45w9r = {base: ""}; const element = document.currentScript.parentElement; ` +
		`Promise.all([import("@b")]).then(([kit, app]) => { kit.start(app, element`
	svelteEnd = `); }); }</script></div><link rel="modulepreload" href="@b">`
	module    = `<script type="module" src="@b"></script>`
)

// tools are what the tools write today.
var tools = [simweb.ToolCount]tool{ //nolint:gochecknoglobals // a table
	simweb.ToolReact: {
		shell:  asksReact + `<div id="root"></div><script src="@b"></script>`,
		before: asksReact + `<div id="root">` + heading, after: `</div><script src="@b"></script>`,
	},
	simweb.ToolVite: {
		shell:  `<div id="app"><div class="spinner"></div><p>Loading…</p></div>` + module,
		before: `<div id="app" data-v-app="">` + heading, after: `</div>` + module,
	},
	simweb.ToolNext: {
		shell: `<div id="__next"></div>` + nextData, before: `<div id="__next">` + heading, after: `</div>` + nextData,
	},
	simweb.ToolNextStream: {
		shell: `<!--$!--><template data-dgst="BAILOUT_TO_CLIENT_SIDE_RENDERING"></template><p>Loading...</p><!--/$-->` +
			nextStream,
		before: `<main>` + heading, after: `</main>` + nextStream,
	},
	simweb.ToolNuxt: {
		shell: `<div id="__nuxt"><svg class="nuxt-spa-loading"><path d="M0 0h9"></path></svg></div>` +
			`<script type="application/json" data-ssr="false" id="__NUXT_DATA__"` + nuxtData,
		before: `<div id="__nuxt">` + heading,
		after:  `</div><script type="application/json" data-ssr="true" id="__NUXT_DATA__"` + nuxtData,
	},
	simweb.ToolAngular: {
		shell:  `<app-root><div class="loader">Loading, please wait</div></app-root>` + module,
		before: `<app-root ng-version="19.2.5" ng-server-context="ssr">` + heading,
		after:  `</app-root><script id="ng-state" type="application/json">{"text":"@d"}</script>` + module,
	},
	simweb.ToolSvelte: {
		shell:  `<div style="display: contents">` + svelte + svelteEnd,
		before: `<div style="display: contents">` + heading,
		after:  svelte + `, { node_ids: [0, 2], data: ["@d"] }` + svelteEnd,
	},
	simweb.ToolNoscript: {
		shell: `<noscript>This site requires JavaScript. Please enable it in your browser.</noscript>` +
			`<div class="application"></div><script src="@b"></script>`,
		before: heading,
		after: `<noscript>Please enable JavaScript to view the comments powered by Disqus.</noscript>` +
			`<script src="@b" defer></script>`,
	},
	simweb.ToolElements: {
		shell: `<my-shop></my-shop>` + module, before: `<my-shop>` + heading, after: `</my-shop>` + module,
	},
}

// appendShell appends a page that a browser must draw. Pages of tools without data are equal all over a host.
func (w *Writer) appendShell(
	dst []byte, d *Document, h *simweb.Host, t simweb.Target, f *simweb.Page,
) []byte {
	d.h, d.list = *h, h.AppendLinks(d.list[:0], t, f)
	dst = append(dst, "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Shop at "...)
	dst = append(h.AppendName(dst), "</title>\n<style>body { margin: 0 }</style></head>\n<body>"...)
	return append(w.appendFrame(dst, d, tools[h.Tool].shell, t), "</body></html>\n"...)
}

// appendFrame appends a text of a tool.
func (w *Writer) appendFrame(dst []byte, d *Document, text string, t simweb.Target) []byte {
	if strings.Contains(text, "@b") {
		d.parts = append(d.parts, true)
	}
	r := draw.RNG(d.h.Hash(simweb.SaltBody, int(t.Page)) + uint64(t.Kind))
	for {
		before, rest, isFound := strings.Cut(text, "@")
		dst = append(dst, before...)
		if !isFound {
			return dst
		}
		switch text = rest[1:]; rest[0] {
		case 'b':
			dst = d.h.AppendPath(dst, simweb.Target{Kind: simweb.KindBundle})
		case 't':
			dst = append(strconv.AppendInt(append(dst, "Page "...), int64(t.Page), 10), " of "...)
			dst = d.h.AppendName(dst)
		case 'd':
			for range 50 {
				dst = append(corpus.AppendName(dst, r.Next()), ' ')
			}
		}
	}
}

// appendScript appends the script of a tool. A string in it looks like a link.
func appendScript(dst []byte, h *simweb.Host) []byte {
	dst = append(dst, "const root = document.getElementById(\"root\");\nfetch(\""...)
	dst = h.AppendPath(dst, simweb.Target{Kind: simweb.KindTrap, Step: simweb.ScriptTrap})
	return append(dst, "\").then((page) => page.text()).then((text) => { root.innerHTML = text; });\n"...)
}
