// ReplayWeb.page, as orbweaver view --replayweb serves it, in Debian's Chromium.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
const { chromium } = createRequire(new URL('../dashboardcheck/', import.meta.url))('playwright-core')

const orbweaver = new URL('../../bin/orbweaver', import.meta.url).pathname

// serve starts the command with an archive. pack is the unpacked npm package replaywebpage. It answers with the address of
// the lists, with that of ReplayWeb.page, and with a function that ends the command.
export async function serve(pack, archive) {
  const view = spawn(orbweaver, ['view', '--replayweb', pack, archive], { stdio: ['ignore', 'pipe', 'inherit'] })
  const addresses = []
  for await (const line of createInterface({ input: view.stdout })) {
    if (line.startsWith('  http://')) addresses.push(line.trim())
    if (addresses.length === 2) return { list: addresses[0], address: addresses[1], close: () => view.kill() }
  }
  throw new Error('orbweaver view has ended')
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
