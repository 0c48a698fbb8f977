// ReplayWeb.page, served on loopback beside the archives that it shows, in Debian's Chromium.
import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
const { chromium } = createRequire(new URL('../dashboardcheck/', import.meta.url))('playwright-core')

// serve starts a server of these files, at /NAME, and of the embedding page, at /?source=NAME&url=URL&ts=TIME. pack is
// the unpacked npm package replaywebpage. It answers with the address and with a list of the files that were asked for.
export async function serve(pack, archives) {
  const files = { '/ui.js': [pack + '/ui.js', 'text/javascript'], '/replay/sw.js': [pack + '/sw.js', 'text/javascript'] }
  for (const name of archives) {
    files['/' + basename(name)] = [name, name.endsWith('.json') ? 'application/json' : 'application/wacz']
  }
  const asked = []
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1')
    if (pathname === '/') return response.setHeader('Content-Type', 'text/html').end(embedding(searchParams))
    if (pathname === '/replay/') return response.setHeader('Content-Type', 'text/html').end(tooEarly)
    if (!files[pathname]) return response.writeHead(404).end()
    asked.push([pathname.slice(1), request.headers.range || ''])
    sendFile(request, response, ...files[pathname])
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  return { address: `http://127.0.0.1:${server.address().port}`, asked, close: () => server.close() }
}

// The service worker answers for /replay/. ReplayWeb.page opens its frame when the worker is registered, which may be
// before it is active. Then the frame asks this server, would get 404, and stay empty.
const tooEarly = '<!doctype html><script>navigator.serviceWorker.ready.then(() => location.reload())</script>'

function embedding(options) {
  const attributes = ['source', 'url', 'ts'].filter((name) => options.get(name)).map((name) =>
    `${name}="${options.get(name).replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`)
  return `<!doctype html><meta charset="utf-8"><script src="/ui.js"></script><style>body { margin: 0 }</style>
<replay-web-page style="display: block; height: 100vh" ${attributes.join(' ')} replayBase="/replay/" embed="full">
</replay-web-page>`
}

function sendFile(request, response, name, type) {
  const size = statSync(name).size
  const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range || '')
  let first = 0, last = size - 1
  if (range) {
    first = range[1] ? Number(range[1]) : Math.max(size - Number(range[2]), 0)
    if (range[1] && range[2]) last = Math.min(last, Number(range[2]))
    response.setHeader('Content-Range', `bytes ${first}-${last}/${size}`)
  }
  response.writeHead(range ? 206 : 200, { 'Content-Type': type, 'Accept-Ranges': 'bytes', 'Content-Length': last - first + 1 })
  if (request.method === 'HEAD') return response.end()
  createReadStream(name, { start: first, end: last }).pipe(response)
}

export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] })
}

// replayed waits for the frame that shows a URL of the archive, until its document is loaded.
export async function replayed(page, url, seconds = 300) {
  const shows = (frame) => frame.url().split('#')[0].replace(/^.*?\/replay\/w\/.*?\/\d*mp_\//, '') === url
  const end = Date.now() + seconds * 1000
  let frame
  while (!(frame = page.frames().find(shows))) {
    const left = end - Date.now()
    if (left <= 0) throw new Error(`no frame shows ${url} after ${seconds} s: ${page.frames().map((f) => f.url()).join(' ')}`)
    await page.waitForEvent('framenavigated', { timeout: left }).catch(() => {})
  }
  await frame.waitForLoadState('load', { timeout: Math.max(end - Date.now(), 1) })
  return frame
}
