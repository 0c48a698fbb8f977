package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

func wordpress() *app {
	return &app{
		fill: fillWordpress, pages: wordpressPages, fixed: 5000, times: 30,
		conf: `
  <Directory /usr/share/wordpress>
    RewriteEngine On
    RewriteBase /
    RewriteCond %{REQUEST_FILENAME} !-f
    RewriteCond %{REQUEST_FILENAME} !-d
    RewriteRule . /index.php [L]
  </Directory>
  Alias /wp-content /var/lib/wordpress/wp-content
  <Directory /var/lib/wordpress/wp-content>
    Options FollowSymLinks
  </Directory>`,
		kinds: []urlKind{
			{"", regexp.MustCompile(`/wp-(content|includes|admin)/|/favicon`)},
			{"interfaces for programs", regexp.MustCompile(`/wp-json|/xmlrpc\.php|rest_route=`)},
			{"feeds", regexp.MustCompile(`/feed/`)},
			{"forms to answer a comment", regexp.MustCompile(`[?&]replytocom=`)},
			{"short addresses", regexp.MustCompile(`/\?p=\d+`)},
			{"days of the calendar", regexp.MustCompile(`test/\d{4}/\d\d/\d\d/`)},
			{"years and pages of comments", regexp.MustCompile(`test/\d{4}/(page/\d+/)?$|/comment-page-`)},
			{"searches", regexp.MustCompile(`[?&]s=`)},
			{"log in", regexp.MustCompile(`/wp-login\.php`)},
		},
	}
}

// fillWordpress starts MariaDB, installs WordPress and writes the notes of Git's releases as posts of a blog, with
// comments.
func fillWordpress(ctx context.Context, r *run, s *servers, _ *site) error {
	if err := r.startDatabase(ctx, s); err != nil {
		return err
	}
	config := "<?php\ndefine('DB_NAME', 'wordpress');\ndefine('DB_USER', 'root');\ndefine('DB_PASSWORD', '');\n" +
		"define('DB_HOST', 'localhost:" + r.inside("mysql.sock") + "');\n" +
		"define('DISABLE_WP_CRON', true);\ndefine('WP_HTTP_BLOCK_EXTERNAL', true);\n"
	settings := filepath.Join(r.root, "etc/wordpress/config-wordpress.test.php")
	err := os.WriteFile(settings, []byte(config), 0o644) //nolint:gosec // a database without a password
	if err != nil {
		return err
	}
	notes, err := r.releases()
	if err != nil {
		return err
	}
	text, err := json.Marshal(notes[len(notes)-min(len(notes), 160):])
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.path("wordpress.json"), text, 0o644); err != nil { //nolint:gosec // not secret
		return err
	}
	_, err = r.script(ctx, "wordpress_fill.php", r.inside("wordpress.json"))
	return err
}

// startDatabase makes a database in a directory of this run and starts MariaDB on it, which listens on a socket alone.
func (r *packages) startDatabase(ctx context.Context, s *servers) error {
	if err := os.Mkdir(r.path("mysql"), 0o755); err != nil { //nolint:gosec // a database without secrets
		return err
	}
	common := []string{
		"--no-defaults",
		"--user=root",
		"--datadir=" + r.inside("mysql"),
		"--skip-grant-tables",
		"--innodb-flush-log-at-trx-commit=0",
	}
	bootstrap := r.command(ctx, "/usr/sbin/mariadbd", append(common, "--bootstrap")...)
	var sql, said bytes.Buffer
	sql.WriteString("CREATE DATABASE mysql;\nUSE mysql;\n")
	for _, name := range []string{
		"mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql",
	} {
		text, err := os.ReadFile(filepath.Join(r.root, "usr/share/mysql", name)) //nolint:gosec // a file of the package
		if err != nil {
			return err
		}
		sql.Write(text)
	}
	sql.WriteString("\nCREATE DATABASE wordpress;\n")
	bootstrap.Stdin, bootstrap.Stderr = &sql, &said
	if err := bootstrap.Run(); err != nil {
		return fmt.Errorf("mariadbd --bootstrap: %w: %s", err, tail(said.Bytes()))
	}
	server := append(common, "--skip-networking", "--socket="+r.inside("mysql.sock"),
		"--pid-file="+r.inside("mysql.pid"))
	if err := s.start(r.command(ctx, "/usr/sbin/mariadbd", server...), r.path("mysql.log"), ""); err != nil {
		return err
	}
	return await("unix", r.path("mysql.sock"), "mariadbd", r.path("mysql.log"))
}

// wordpressPages asks WordPress for the addresses of its posts, pages, categories, authors and months.
func wordpressPages(ctx context.Context, r *run, _ *site) ([]string, error) {
	return r.script(ctx, "wordpress_pages.php")
}
