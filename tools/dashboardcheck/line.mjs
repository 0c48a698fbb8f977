// A line between a page and the crawl that can be cut, held and garbled.
import net from 'node:net'

// line makes a line to an address, http://HOST:PORT.
export async function line(to) {
  const far = new URL(to)
  let mode = 'through'
  const open = new Set()
  const server = net.createServer((near) => {
    if (mode === 'cut') return near.destroy()
    const pair = { near, far: null, isStream: false, isDead: mode === 'held' }
    open.add(pair)
    near.on('close', () => { open.delete(pair); if (pair.far) pair.far.destroy() })
    near.on('error', () => {})
    if (pair.isDead) return near.on('data', (data) => note(pair, data))
    pair.far = net.connect(far.port, far.hostname)
    pair.far.on('error', () => near.destroy())
    pair.far.on('close', () => { if (!pair.isDead) near.destroy() })
    near.on('data', (data) => { note(pair, data); if (!pair.isDead) pair.far.write(data) })
    pair.far.on('data', (data) => { if (!pair.isDead) near.write(data) })
  })
  // note counts requests for the stream of events.
  function note(pair, data) {
    const text = data.toString('latin1')
    if (!/^(GET|POST) /.test(text)) return
    pair.isStream = text.startsWith('GET /events')
    if (pair.isStream) it.tries++
  }
  function toStreams(text) {
    for (const pair of open) if (pair.isStream) pair.near.write(text)
  }
  const it = {
    address: '',
    tries: 0, // requests for the stream that have come through or were held
    streams: () => [...open].filter((pair) => pair.isStream).length,
    // cut ends all connections, and takes no more.
    cut() {
      mode = 'cut'
      for (const pair of open) pair.near.destroy()
    },
    // hold keeps all connections open, and nothing comes over them any more, as if a router had forgotten them.
    hold() {
      mode = 'held'
      for (const pair of open) pair.isDead = true
    },
    mend() { mode = 'through' },
    // garble sends an event that is no JSON.
    garble() { toStreams('10\r\ndata: {broken\n\n\r\n') },
    // end ends the streams as a server does that is about to stop.
    end() { toStreams('0\r\n\r\n') },
    close() {
      it.cut()
      server.close()
    },
  }
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  it.address = `http://127.0.0.1:${server.address().port}`
  return it
}
