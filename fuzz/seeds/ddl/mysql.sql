-- a dump
/*!40101 SET NAMES utf8 */;
DROP TABLE IF EXISTS `orders`;
CREATE TABLE `orders` (
  `id` int(11) unsigned NOT NULL AUTO_INCREMENT COMMENT 'the number',
  `state` enum('new','it''s done') CHARACTER SET utf8 DEFAULT 'new',
  `at` timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (`id`), KEY `k` (`state`) USING BTREE,
  CONSTRAINT `fk` FOREIGN KEY (`id`) REFERENCES `shop`.`customers` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8 COMMENT='orders; all of them';
INSERT INTO `orders` VALUES (1,'new','2020-01-01'),(2,'a;b',NULL);
