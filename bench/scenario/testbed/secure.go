package testbed

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"time"

	"orbweaver/internal/simnet"
	"orbweaver/internal/simweb/origin"
)

// Secure makes the rig's network again, with real TLS on port 443 and a self-signed certificate.
func (r *Rig) Secure() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("testbed: %w", err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return fmt.Errorf("testbed: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{der},
		PrivateKey: key}}}
	if err := r.Net.Close(); err != nil {
		return err
	}
	o := origin.ServeOptions{Log: r.Log}
	secure := o
	secure.TLS = true
	r.Net = simnet.New(r.World, simnet.Options{Latency: 2 * time.Millisecond, Seed: 1, Serve: o,
		TLS: func(conn net.Conn) { r.World.Serve(tls.Server(conn, config), secure) }})
	return nil
}
