// The agents that share the crawl, and the messages between them.
import { h, say } from './dom.js'
import { figureList } from './figures.js'
import { table } from './table.js'
import { count, counted, rate, share } from './format.js'

export function agents() {
  const note = h('p', { class: 'quiet', role: 'status', 'data-name': 'agents.here' }, '')
  let self = ''
  const list = table({
    caption: 'Agents', isTitled: true, key: (a) => a.id, empty: 'This crawl has one agent.',
    columns: [
      { title: 'Agent', text: (a) => a.id + (a.id === self ? ' (this one)' : '') }, { title: 'State', text: (a) => a.state },
      { title: 'Since', text: (a) => a.state_since || '' },
      { title: 'Share of hosts', number: true, text: (a) => share(a.share || 0), value: (a) => a.share || 0 },
      { title: 'URLs waiting for it', number: true, text: (a) => count(a.urls_waiting || 0), value: (a) => a.urls_waiting || 0 },
      { title: 'URLs received from it', number: true, text: (a) => count(a.urls_received || 0), value: (a) => a.urls_received || 0 },
      { title: 'Refused', text: (a) => (a.banned_until ? `until ${a.banned_until}: ${a.ban_reason || ''}` : '') },
    ],
  })
  const facts = [
    figureList('URLs', [
      ['Sent to their owners', 'links_sent', count], ['Received', 'links_received', count], ['Waiting to be sent', 'urls_waiting', count],
      ['Handed over', 'urls_handed_over', count], ['Stored by another agent', 'urls_recovered', count], ['Sent again', 'urls_resent', count],
      ['URLs sent for each page', 'overhead', rate],
    ]),
    figureList('Messages, in this run', [
      ['Sent', 'messages_sent', count], ['Received', 'messages_received', count], ['Failed', 'messages_failed', count],
      ['Deferred', 'messages_deferred', count], ['Refused', 'messages_refused', count],
    ]),
    figureList('Address leases, in this run', [
      ['Wanted', 'leases_requested', count], ['Requests', 'lease_requests', count], ['Not answered', 'lease_requests_unanswered', count],
      ['Granted and valid', 'leases_granted', count],
    ]),
  ]
  return {
    element: h('div', {}, h('h1', {}, 'Agents'), note, list.element, h('section', { class: 'facts' }, facts.map((f) => f.element))),
    update(now) {
      const cluster = now.report.cluster
      if (!cluster) return
      self = cluster.self
      const all = cluster.agents || []
      const alive = all.filter((a) => a.state === 'alive').length
      const quorum = cluster.quorum ? (cluster.quorum.has_lease ? ' This agent has a lease of the majority.' : ' This agent has no lease and fetches nothing.') : ''
      say(note, `${count(alive)} of ${counted(all.length, 'agent is', 'agents are')} alive.${quorum}`)
      list.update(all)
      for (const f of facts) f.update((id) => cluster[id])
    },
  }
}
