package fetch

import (
	"crypto/tls"
	"errors"
	"os"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/h2"
	"orbweaver/internal/outcome"
)

// handshaker does the TLS handshakes of a Fetcher.
type handshaker struct {
	o       *Options
	config  *tls.Config
	record  *Connection // of the Page of the current handshake
	tickets *ticketing  // of the current or last handshake
	refused bool        // a handshake with a session has failed since connect began
}

// init makes the configuration. The library does not verify: inspect does, so that a fault can be told from a failure.
// Each connection has a copy with its ServerName.
func (h *handshaker) init(o *Options) {
	h.o = o
	h.config = &tls.Config{
		InsecureSkipVerify: true, // inspect verifies
		VerifyConnection:   h.inspect,
		MinVersion:         tls.VersionTLS12,
		NextProtos:         []string{"http/1.1"},
		CipherSuites:       browserSuites(),
		// A server may ask for a client certificate once it knows what is requested (IIS). It gets none, and answers.
		Renegotiation: tls.RenegotiateOnceAsClient,
		// Without the library's post-quantum exchanges: what is public today need not be secret from the computers of
		// tomorrow, and they cost a quarter of a handshake and a kilobyte more in each direction. Every server knows
		// one of these.
		CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521},
	}
}

// browserSuites returns the cipher suites of TLS 1.2 that browsers offer. Those without forward secrecy are among them:
// what is public needs no secrecy, and old servers know nothing else. TLS 1.3 has its own list, in the library.
func browserSuites() []uint16 {
	return []uint16{
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
		tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
		tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,
		tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_RSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_256_CBC_SHA,
	}
}

// handshake does the TLS handshake.
func (h *handshaker) handshake(t *Target, p *Page, conn *connection) outcome.Outcome {
	if !conn.watch.arm(time.Now().Add(conn.times.Connect)) {
		return outcome.Cancelled
	}
	// The request follows the handshake at once, and must not wait for the acknowledgement (Nagle's algorithm). A plain
	// request is a single write, which never waits.
	if c, ok := conn.raw.(interface{ SetNoDelay(bool) error }); ok {
		_ = c.SetNoDelay(true) // without it everything works, only more slowly
	}
	config := h.config.Clone()
	if h.o.HTTP2 && !t.HTTP1 || t.HTTP2 {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	config.ServerName = certificateName(t.Host)
	h.tickets = &ticketing{sessions: h.o.Sessions, server: xxh3.Hash128(t.Host)}
	config.ClientSessionCache = h.tickets
	h.record = &p.Connection
	conn.meter, conn.isMetered = &bandwidth.Meter{Conn: conn.raw, Flow: conn.flow}, true
	client := tls.Client(conn.meter, config)
	conn.conn = client
	//nolint:contextcheck // watch aborts the handshake through the deadline of the connection
	err := client.Handshake()
	h.record = nil
	if err != nil {
		if conn.watch.cancelled() {
			return outcome.Cancelled
		}
		isLate := errors.Is(err, os.ErrDeadlineExceeded)      // a second connection would take as long again
		h.refused = h.tickets.offered.state != nil && !isLate // the library has dropped it
		p.Err = tlsCause(err)
		return outcome.TLSFault
	}
	if p.Connection.TLS.HTTP2 {
		conn.conn = h2.New(client)
	}
	return outcome.None
}

// inspect notes what the handshake agreed on and whether the certificate holds. Under TLSStrict a fault ends the
// handshake. Of a resumed session it notes what the whole handshake has shown.
func (h *handshaker) inspect(cs tls.ConnectionState) error {
	c := h.record
	c.Secure = true
	c.TLS = TLSFacts{
		Version: cs.Version, Cipher: cs.CipherSuite, Resumed: cs.DidResume, HTTP2: cs.NegotiatedProtocol == "h2",
	}
	if cs.DidResume {
		h.tickets.trusted = h.tickets.offered.trusted
		c.TLS.Chain = h.tickets.trusted.chain
		h.o.Sessions.accepted()
		return nil
	}
	digest, size, err := certificateDigest(cs.PeerCertificates)
	if err != nil {
		h.tickets.wholeHandshake(trust{})
		return err //nolint:wrapcheck // tlsCause reads it
	}
	c.TLS.Chain = digest
	until, err := verifyChain(&cs, h.o.RootCAs, time.Now())
	if err == nil {
		size += int64(len(cs.PeerCertificates)) * certificateOverhead
		h.tickets.wholeHandshake(trust{until: until, chain: digest, bytes: size})
		return nil
	}
	h.tickets.wholeHandshake(trust{})
	c.TLS.Fault = certificateFault(err)
	if h.o.TLS == TLSStrict {
		return err
	}
	return nil
}
