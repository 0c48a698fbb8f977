package botpage

// pageText is the template of the page.
const pageText = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>The crawler of {{.Operator}}</title>
<style>
body { max-width: 42em; margin: 2em auto; padding: 0 1em; font: 1em/1.5 sans-serif; color: #222; background: #fff }
pre { padding: .8em; overflow: auto; background: #eee }
dt { font-weight: bold } dd { margin: 0 0 .6em 0; overflow-wrap: anywhere }
@media (prefers-color-scheme: dark) {
body { color: #ddd; background: #1b1b1b } pre { background: #333 } a { color: #9cf }
}
</style>
</head>
<body>
<main>
<h1>The crawler of {{.Operator}}</h1>
<p>You see this page because a crawler has visited your site, and its requests name this address.</p>
<dl>
<dt>Operator</dt>
<dd>{{.Operator}}</dd>
<dt>Purpose</dt>
<dd>{{.Purpose}}</dd>
<dt>User-Agent of its requests</dt>
<dd><code>{{.UserAgent}}</code></dd>
<dt>Name in robots.txt</dt>
<dd><code>{{.Token}}</code></dd>
{{- if .Mail}}
<dt>Mail</dt>
<dd><a href="mailto:{{.Mail}}">{{.Mail}}</a></dd>
{{- end}}
{{- if .Contact}}
<dt>Contact</dt>
<dd><a href="{{.Contact}}">{{.Contact}}</a></dd>
{{- end}}
</dl>
<h2>How often it comes</h2>
<ul>
<li>It sends one request at a time to a site.
{{- if .HostDelay}} After each response it waits at least {{.HostDelay}}.{{end}}</li>
<li>It sends one request at a time to an IP address, whatever sites are there.
{{- if .IPDelay}} After each response it waits at least {{.IPDelay}}.{{end}}
IPv6 addresses that agree in their first {{.IPv6Prefix}} bits count as one.</li>
{{- if .CrawlDelayMax}}
<li>A longer <code>Crawl-delay</code> in robots.txt is obeyed, up to {{.CrawlDelayMax}}.</li>
{{- end}}
<li>After a response with status 429 or 503 it waits as long as <code>Retry-After</code> says, up to a day. Without it,
the wait grows with each such response.</li>
{{- if .HasOwnDelays}}
<li>Some hosts have another delay, which their rules in the settings of the crawl state.</li>
{{- end}}
</ul>
<h2>How to keep it away</h2>
<p>Put these lines into <code>/robots.txt</code> of your site. They count for the scheme, host and port that serve
this file.</p>
<pre>User-agent: {{.Token}}
Disallow: /</pre>
<p>A path in place of <code>/</code> closes a part of the site. These lines let it come less often, one request in
30 seconds:</p>
<pre>User-agent: {{.Token}}
Crawl-delay: 30</pre>
<p>The crawler reads robots.txt before anything else of a site, and again within 24 hours. So a change counts after a
day at the latest.{{if .IgnoresRobots}} For some hosts the operator has decided not to obey the rules of robots.txt, and
the archive states the reason. Write to the operator if this concerns your site.{{end}}</p>
<p>{{if .Mail}}Or write to <a href="mailto:{{.Mail}}">{{.Mail}}</a>{{else}}Or write to the operator{{end}}.
Name your site, and the times of some requests in your log. The operator can exclude a site at once, or give it a
longer delay.</p>
</main>
</body>
</html>
`
