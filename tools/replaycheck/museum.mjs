// A web of two hosts behind an HTTP proxy on loopback, with what makes replay hard: node museum.mjs
//
// It prints the port. After a line on standard input it is the web of a later day: two pages have changed, and the
// others have not. It ends with its standard input.
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { brotliCompressSync, crc32, deflateSync, gzipSync } from 'node:zlib'

// picture is a PNG of one colour, 60 pixels wide and high.
function picture(...rgb) {
  const row = Buffer.concat([Buffer.from([0]), ...Array(60).fill(Buffer.from(rgb))])
  const chunk = (kind, data) => {
    const body = Buffer.concat([Buffer.from(kind), data])
    const out = Buffer.alloc(body.length + 8)
    out.writeUInt32BE(data.length)
    body.copy(out, 4)
    out.writeUInt32BE(crc32(body), body.length + 4)
    return out
  }
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', Buffer.from([0, 0, 0, 60, 0, 0, 0, 60, 8, 2, 0, 0, 0])),
    chunk('IDAT', deflateSync(Buffer.concat(Array(60).fill(row)))), chunk('IEND', Buffer.alloc(0)),
  ])
}

const html = (title, body, head = '') =>
  `<!DOCTYPE html><html><head><meta charset="utf-8"><title>${title}</title>${head}</head><body>${body}</body></html>`
const page = (title, body, head) => ({ type: 'text/html; charset=utf-8', body: html(title, body, head) })

// More URLs than a block of the index has lines. Their keys are between those of same and twin: a program that loads the
// block of one of the two does not have the other.
const shelves = Array.from({ length: 300 }, (_, i) => `/shelf/${i}`)

let day = 1
// What the hosts have; a function makes an answer for each request.
const web = {
  'museum.test/': {
    ...page('The museum', `<h1>Open daily</h1><img src="//pictures.museum.test/blue.png" id="blue">
<img srcset="/red.png 1x, /red2.png 2x" src="/red.png" id="red"><p id="by-script">not yet</p>
<iframe src="/hours" id="hours"></iframe><ul>
<li><a href="/old#room">moved</a> <a href="/kept">kept</a> <a href="/twin">twin</a> <a href="/same">same</a>
<a href="/news">news</a> <a href="/cyrillic">cyrillic</a> <a href="/s%C3%BCd/?q=a+b&amp;x=%2F">query</a>
<a href="/shelves">shelves</a> <a href="/meta">meta</a> <a href="/plain-utf-8">utf-8</a> <a href="/list.txt">list</a> <a href="/style.css?v=2">v2</a> <a href="/nowhere">nowhere</a>
</ul><script src="/more.js"></script>`, '<link rel="stylesheet" href="/style.css"><link rel="preload" as="fetch" href="/data.json">'),
    headers: { 'Content-Security-Policy': "default-src 'self' pictures.museum.test", 'Set-Cookie': 'seen=1; Path=/' }, code: gzipSync,
  },
  'museum.test/style.css': {
    type: 'text/css', body: '@import "/colours.css"; h1 { font-size: 41px }', headers: { 'Transfer-Encoding': 'chunked' }, code: brotliCompressSync,
  },
  'museum.test/style.css?v=2': { type: 'text/css', body: 'h1 { font-size: 43px }' },
  'museum.test/colours.css': { type: 'text/css', body: 'h1 { color: rgb(1, 2, 3); background: url("bg.png") }' },
  'museum.test/bg.png': { type: 'image/png', body: picture(0, 200, 0) },
  'museum.test/red.png': { type: 'image/png', body: picture(200, 0, 0) },
  'museum.test/red2.png': { type: 'image/png', body: picture(200, 0, 0) },
  'pictures.museum.test/blue.png': { type: 'image/png', body: picture(0, 0, 200) },
  'museum.test/more.js': {
    type: 'text/javascript', body: `fetch('/data.json').then((r) => r.json()).then((d) => {
  document.getElementById('by-script').textContent = d.said + ' ' + location.href
})`,
  },
  'museum.test/data.json': { type: 'application/json', body: '{"said": "added by a script of"}', code: gzipSync },
  'museum.test/hours': page('Hours', '<p>geöffnet von zehn bis sechs</p>'),
  'museum.test/shelves': page('Shelves', shelves.map((path) => `<a href="${path}">${path}</a>`).join('\n')),
  ...Object.fromEntries(shelves.map((path) => ['museum.test' + path, page(path, `<p>what is on ${path}</p>`)])),
  'museum.test/old': { status: 301, headers: { Location: '/new?room=1' } },
  'museum.test/new?room=1': page('Room 1', '<p>this page has moved here</p>'),
  // Unchanged on the later day: the server says 304.
  'museum.test/kept': { ...page('Kept', `<p>a page that is kept</p>${'<p>text</p>'.repeat(200)}`), headers: { ETag: '"1"' } },
  // Unchanged, but the server does not say so. Two URLs have the same body.
  'museum.test/same': page('Same', `<p>the same at two addresses</p>${'<p>text</p>'.repeat(200)}`),
  'museum.test/twin': page('Same', `<p>the same at two addresses</p>${'<p>text</p>'.repeat(200)}`),
  'museum.test/news': () => page(`News of day ${day}`, `<p>exhibition number ${day}</p><img src="/day.png" id="day">`),
  'museum.test/day.png': () => ({ type: 'image/png', body: picture(day, 0, 0) }),
  'museum.test/cyrillic': {
    type: 'text/html; charset=windows-1251', body: Buffer.from('<title>\xcf\xf0\xe8\xe2\xe5\xf2</title><p>\xcc\xf3\xe7\xe5\xe9', 'latin1'),
  },
  'museum.test/meta': {
    type: 'text/html; charset=windows-1251', body: Buffer.from('<meta charset=windows-1251><title>\xcf\xf0\xe8\xe2\xe5\xf2</title><p>\xcc\xf3\xe7\xe5\xe9', 'latin1'),
  },
  'museum.test/plain-utf-8': { type: 'text/html; charset=utf-8', body: '<title>Münzen</title><p>Gemälde' },
  'museum.test/s%C3%BCd/?q=a+b&x=%2F': page('South', '<p>a query is part of the address</p>'),
  'museum.test/list.txt': { type: 'text/plain', body: 'one\ntwo\n' },
}

function answer(request, response) {
  const path = request.url.replace(/^http:\/\//, '')
  let said = web[path]
  if (typeof said === 'function') said = said()
  if (!said) return response.writeHead(404, { 'Content-Type': 'text/html' }).end(html('Not here', '<p>not found</p>'))
  const headers = { ...said.headers }
  if (headers.ETag && request.headers['if-none-match'] === headers.ETag) return response.writeHead(304, { ETag: headers.ETag }).end()
  let body = said.body || ''
  if (said.type) headers['Content-Type'] = said.type
  if (said.code) {
    body = said.code(body)
    headers['Content-Encoding'] = said.code === gzipSync ? 'gzip' : 'br'
  }
  if (!headers['Transfer-Encoding']) headers['Content-Length'] = Buffer.byteLength(body)
  response.writeHead(said.status || 200, headers)
  response.end(body)
}

const server = createServer(answer).listen(0, '127.0.0.1', () => console.log(server.address().port))
createInterface({ input: process.stdin }).on('line', () => console.log(`day ${++day}`)).on('close', () => process.exit())
