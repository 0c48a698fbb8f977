// The dashboard of a real crawl with three agents, over the Unix socket of one: node cluster.mjs ORBWEAVER
//
// ORBWEAVER is the program. It also serves the simulated web that the agents crawl, on loopback. The exit status is 1 if
// a story failed. Every process that this program starts, it ends by its number.
import { execFileSync, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const [program] = process.argv.slice(2)
const dir = mkdtempSync(join(tmpdir(), 'dashboardcheck-'))
const running = new Set()

function start(args, out) {
  const p = spawn(program, args, { cwd: dir, stdio: ['pipe', out || 'pipe', openSync(join(dir, args[0] + '.log'), 'a')] })
  running.add(p)
  p.on('exit', () => running.delete(p))
  return p
}

// lineOf waits for a line of standard output.
async function lineOf(p, pattern) {
  for await (const line of createInterface({ input: p.stdout })) {
    const found = line.match(pattern)
    if (found) return found
  }
  throw new Error('ended without a line like ' + pattern)
}

// freePort is a port that no program has at this moment.
function freePort() {
  return new Promise((resolve) => {
    const s = createServer().listen(0, '127.0.0.1', () => {
      const { port } = s.address()
      s.close(() => resolve(port))
    })
  })
}

function end(p, signal) {
  return new Promise((resolve) => {
    if (p.exitCode !== null || p.signalCode !== null) return resolve()
    p.once('exit', resolve)
    p.kill(signal)
  })
}

function want(is, text) {
  if (!is) throw new Error(text)
}

let faults = 0
async function story(name, tell) {
  try {
    await tell()
    console.log('ok ' + name)
  } catch (e) {
    faults++
    console.log('FAIL ' + name + ': ' + e.message.split('\n')[0])
  }
}

const proxy = `127.0.0.1:${await freePort()}`
const sim = start(['sim', '--proxy', proxy, '--hosts', '300', '--pages', '40', '--seeds-file', 'seeds.txt', '--until-eof', '--json'])
await lineOf(sim, /\{/)
const names = ['a1', 'a2', 'a3']
const ports = {}
for (const name of names) ports[name] = [await freePort(), await freePort()]

function agent(name) {
  const [gossip, messages] = ports[name]
  return start(['crawl', '--dir', name, '--agent', name, '--agent-plain', '--gossip', `127.0.0.1:${gossip}`,
    '--agent-listen', `127.0.0.1:${messages}`, '--join', `127.0.0.1:${ports.a1[0]}`, '--agents', '3', '--scope', 'all',
    '--proxy', 'http://' + proxy, '--resolver', 'hashed:200', '--seeds', 'seeds.txt', '--host-delay', '2s', '--ip-delay', '200ms'], 'ignore')
}

const agents = Object.fromEntries(names.map((name) => [name, agent(name)]))
const ui = start(['ui', 'a1'])
const [, address] = await lineOf(ui, /(http:\S+)/)
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] })
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
const row = (name, text) => page.getByRole('row', { name }).filter({ hasText: text }).waitFor({ timeout: 60000 })

await story('the page of one agent, over its socket, logs in with the printed address', async () => {
  await page.goto(address)
  await page.locator('[data-name=state]:text-is("running")').waitFor({ timeout: 60000 })
  want(!page.url().includes('login='), 'the code is still in the address')
})

await story('three agents, as `ctl agents` has them', async () => {
  await page.getByRole('link', { name: 'Agents' }).click()
  await page.getByText('3 of 3 agents are alive.').waitFor({ timeout: 60000 })
  const told = JSON.parse(execFileSync(program, ['ctl', 'agents', '--dir', 'a1', '--json'], { cwd: dir }))
  want(told.agents.length === 3 && told.self === 'a1', JSON.stringify(told))
  for (const a of told.agents) {
    await row(a.id + (a.id === 'a1' ? ' (this one)' : ''), (100 * a.share).toFixed(1) + ' %')
  }
})

await story('URLs and messages between them are counted', async () => {
  await page.waitForFunction(() => ['links_sent', 'links_received', 'messages_sent', 'messages_received']
    .every((name) => /[1-9]/.test(document.querySelector(`[data-name=${name}]`).textContent)), null, { timeout: 60000 })
})

await story('an agent that is killed is shown as lost, and as alive when it runs again', async () => {
  await end(agents.a3, 'SIGKILL')
  await page.getByText('2 of 3 agents are alive.').waitFor({ timeout: 60000 })
  await page.getByRole('row', { name: /^a3 (suspected|dead)/ }).waitFor({ timeout: 60000 })
  agents.a3 = agent('a3')
  await page.getByText('3 of 3 agents are alive.').waitFor({ timeout: 60000 })
})

if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT, fullPage: true })
await browser.close()
await Promise.all([...running].map((p) => end(p, 'SIGKILL')))
rmSync(dir, { recursive: true })
process.exit(faults ? 1 : 0)
