<?php
// Prints the address of each published post and page, and of the archives of categories, tags, authors and months, with all their pages.
$_SERVER['HTTP_HOST'] = $_SERVER['SERVER_NAME'] = 'wordpress.test';
$_SERVER['REQUEST_URI'] = '/';
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
require '/usr/share/wordpress/wp-load.php';

function archive($url, $posts) {
	echo "$url\n";
	for ($page = 2; $page <= ceil($posts / get_option('posts_per_page')); $page++) {
		echo $url, "page/$page/\n";
	}
}

foreach (get_posts(array('numberposts' => -1, 'post_type' => array('post', 'page'), 'post_status' => 'publish')) as $post) {
	echo get_permalink($post), "\n";
}
foreach (get_terms(array('taxonomy' => array('category', 'post_tag'), 'hide_empty' => true)) as $term) {
	archive(get_term_link($term), $term->count);
}
archive(home_url('/'), wp_count_posts()->publish);
archive(get_author_posts_url(1), wp_count_posts()->publish);
foreach ($wpdb->get_results("SELECT YEAR(post_date) y, MONTH(post_date) m, COUNT(*) n FROM $wpdb->posts
	WHERE post_type = 'post' AND post_status = 'publish' GROUP BY y, m") as $row) {
	archive(get_month_link($row->y, $row->m), $row->n);
}
