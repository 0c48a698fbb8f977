#!/usr/bin/env bash
# Starts the sites of the newcomer's crawl in the Debian at $ROOTS/web: tools/newcomer/web.sh. It ends when they serve.
#
#	127.0.1.1  python.example  the documentation of Python
#	127.0.1.2  sqlite.example  the documentation of SQLite
#	127.0.1.3  wiki.example    a MediaWiki with pages of Git's documentation
#	127.0.1.4  news.example    answers 503 with Retry-After: 3600, apart from robots.txt
set -euo pipefail
root=$ROOTS/web
inside() { chroot "$root" "$@"; }
for dir in dev proc; do mountpoint -q "$root/$dir" || mount --rbind /$dir "$root/$dir"; done

# fill makes the wiki: its database, a page for each command of Git, and a front page with links to them.
fill() {
	local wiki=/usr/share/mediawiki/maintenance text=$root/srv/text
	rm -rf "$root"/etc/mediawiki/LocalSettings.php "$root"/srv/* && mkdir -p "$text"
	install -d -m 755 "$root/srv/data"
	inside php $wiki/install.php --dbtype sqlite --dbname wiki --dbpath /srv/data --server http://wiki.example \
		--scriptpath /w --pass "a long password 1" --confpath /srv "The commands of Git" Admin >/dev/null
	cat "$root/srv/LocalSettings.php" - >"$root/etc/mediawiki/LocalSettings.php" <<'END'
$wgArticlePath = "/wiki/$1";
$wgMainCacheType = CACHE_ACCEL;
$wgJobRunRate = 0;
END
	local name page
	echo "The commands of Git." >"$text/Main Page"
	for page in $(find "$root/usr/share/doc/git-doc/" -name 'git-[a-m]*.txt' | sort | head -60); do
		name=$(basename "$page" .txt)
		sed -E -e 's/linkgit:([a-z0-9-]+)\[[0-9]\]/[[\1]]/g' -e 's/[{}<>|]/ /g' "$page" >"$text/$name"
		echo "* [[$name]]" >>"$text/Main Page"
	done
	inside sh -c "php $wiki/importTextFiles.php --overwrite --summary first /srv/text/*" >/dev/null
	inside php $wiki/runJobs.php >/dev/null
	inside chown -R www-data:www-data /srv/data
	touch "$root.filled"
}
[ -e "$root.filled" ] || fill

cat >"$root/srv/fpm.conf" <<'END'
[global]
error_log = /srv/fpm.log
[www]
user = www-data
group = www-data
listen = /srv/php.sock
listen.owner = www-data
pm = static
pm.max_children = 2
END
cat >"$root/srv/nginx.conf" <<'END'
user www-data;
worker_processes 1;
pid /srv/nginx.pid;
events {}
http {
  include /etc/nginx/mime.types;
  access_log off;
  error_log /srv/nginx.log;
  server {
    listen 127.0.1.1:80;
    root /usr/share/doc/python3-doc/html;
  }
  server {
    listen 127.0.1.2:80;
    root /usr/share/doc/sqlite3;
  }
  server {
    listen 127.0.1.3:80;
    location = / { return 301 http://wiki.example/wiki/Main_Page; }
    location = /robots.txt {
      default_type text/plain;
      return 200 "# What is for editors is not for crawlers.\nUser-agent: *\nDisallow: /w/index.php\nDisallow: /wiki/Special:\n";
    }
    location /wiki/ {
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME /var/lib/mediawiki/index.php;
      fastcgi_pass unix:/srv/php.sock;
    }
    location ~ ^/w/([a-z_]+\.php) {
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME /var/lib/mediawiki/$1;
      fastcgi_pass unix:/srv/php.sock;
    }
    location /w/ { alias /var/lib/mediawiki/; }
  }
  server {
    listen 127.0.1.4:80;
    location = /robots.txt { return 404; }
    location / {
      add_header Retry-After 3600 always;
      return 503;
    }
  }
}
END
php=$(basename "$(compgen -G "$root/usr/sbin/php-fpm*" | tail -n 1)")
inside /usr/sbin/"$php" --fpm-config /srv/fpm.conf
inside nginx -c /srv/nginx.conf
