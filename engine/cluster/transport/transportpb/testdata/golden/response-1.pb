
content