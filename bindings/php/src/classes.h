/* The classes of the extension and which exception stands for which status. */

#ifndef TAVOLA_PHP_CLASSES_H
#define TAVOLA_PHP_CLASSES_H

typedef struct {
	tavola_status status;
	zend_class_entry **ce;
} tavola_status_class;

/* Ends with an entry whose class is NULL. */
extern const tavola_status_class tavola_status_classes[];
extern zend_class_entry *tavola_exception_ce;

zend_class_entry *tavola_class_of(tavola_status status);

#endif
