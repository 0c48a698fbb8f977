package fetch

import (
	"crypto/tls"
	"time"

	"orbweaver/engine/bandwidth"
	"orbweaver/engine/fetch/certificate"
	"orbweaver/internal/outcome"
)

// handshaker does the TLS handshakes of a Fetcher.
type handshaker struct {
	o      *Options
	config *tls.Config
	record *Connection // of the Page of the current handshake
}

// init makes the configuration. The library does not verify: inspect does, so that a fault can be told from a failure.
// ServerName is set before each handshake.
func (h *handshaker) init(o *Options) {
	h.o = o
	h.config = &tls.Config{
		InsecureSkipVerify:     true, // inspect verifies
		VerifyConnection:       h.inspect,
		MinVersion:             tls.VersionTLS12,
		NextProtos:             []string{"http/1.1"},
		SessionTicketsDisabled: true,
		// Without the library's post-quantum exchanges: what is public today need not be secret from the computers of
		// tomorrow, and they cost a quarter of a handshake and a kilobyte more in each direction. Every server knows
		// one of these.
		CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521},
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
	h.config.ServerName = certificate.ServerName(t.Host)
	h.record = &p.Connection
	conn.meter, conn.isMetered = &bandwidth.Meter{Conn: conn.raw, Flow: conn.flow}, true
	client := tls.Client(conn.meter, h.config)
	conn.conn = client
	//nolint:contextcheck // watch aborts the handshake through the deadline of the connection
	err := client.Handshake()
	h.record = nil
	if err != nil {
		if conn.watch.cancelled() {
			return outcome.Cancelled
		}
		p.Err = tlsCause(err)
		return outcome.TLSFault
	}
	return outcome.None
}

// inspect notes what the handshake agreed on and whether the certificate holds. Under TLSStrict a fault ends the
// handshake.
func (h *handshaker) inspect(cs tls.ConnectionState) error {
	c := h.record
	c.Secure, c.TLS = true, TLSFacts{Version: cs.Version, Cipher: cs.CipherSuite}
	var err error
	if c.TLS.Chain, err = certificate.Digest(cs.PeerCertificates); err != nil {
		return err //nolint:wrapcheck // tlsCause reads it
	}
	err = certificate.Verify(&cs, h.o.RootCAs, time.Now())
	if err == nil {
		return nil
	}
	c.TLS.Fault = certificate.FaultOf(err)
	if h.o.TLS == TLSStrict {
		return err
	}
	return nil
}
